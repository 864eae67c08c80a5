package io.fairgate.gateway;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/**
 * An upstream that, as most servers, works on a request to its end and only then notices that the connection was closed. Counts
 * its concurrent requests.
 */
final class UninterruptedWork implements ScriptedUpstream.Script {

    private final IntSupplier millis;
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();

    /** Each request takes until {@link #end}. */
    UninterruptedWork() {
        this(() -> 300_000);
    }

    /** @param millis how long each request takes */
    UninterruptedWork(IntSupplier millis) {
        this.millis = millis;
    }

    @Override
    public void answer(ScriptedUpstream.Exchange exchange) throws Exception {
        begun.incrementAndGet();
        highest.accumulateAndGet(now.incrementAndGet(), Math::max);
        try {
            var unused = end.await(millis.getAsInt(), TimeUnit.MILLISECONDS);
        } finally {
            now.decrementAndGet();
        }
        ScriptedUpstream.OK.answer(exchange);
    }

    void end() {
        end.countDown();
    }

    int begun() {
        return begun.get();
    }

    int now() {
        return now.get();
    }

    int highest() {
        return highest.get();
    }
}
