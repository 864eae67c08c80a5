package io.fairgate.spring.fairshare;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the bytes of request bodies that are in memory while their requests wait, all of them together. */
public final class ByteBudget {

    private final long limit;
    private final AtomicLong used = new AtomicLong();

    public ByteBudget(long limit) {
        this.limit = limit;
    }

    /** Counts bytes that are in memory already. */
    void add(long bytes) {
        used.addAndGet(bytes);
    }

    void giveBack(long bytes) {
        used.addAndGet(-bytes);
    }

    boolean hasRoom() {
        return used.get() < limit;
    }

    public long used() {
        return used.get();
    }

    public long limit() {
        return limit;
    }
}
