package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/**
 * When the leases that this gateway hosts expire, as far as it knows. Rings then: at the expiry the permits are to come back, and not with the next
 * call. Any thread may call it; it rings on the worker.
 */
final class Expiries {

    /** In nanoseconds of the gateway's clock. */
    private record Expiry(LeaseId id, long at) {}

    private final Scheduler time;
    private final Scheduler.Worker thread;
    private volatile Runnable bell = () -> {};

    // Guarded by this.
    private final TreeSet<Expiry> expiries = new TreeSet<>(Comparator.comparingLong(Expiry::at)
            .thenComparingLong(each -> each.id.high())
            .thenComparingLong(each -> each.id.low()));
    private final Map<LeaseId, Expiry> byId = new HashMap<>();
    private long ringsAt = Long.MAX_VALUE;

    Expiries(Scheduler time, Scheduler.Worker thread) {
        this.time = time;
        this.thread = thread;
    }

    void onExpiry(Runnable action) {
        bell = action;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** The lease expires in that time, in milliseconds, unless it is extended. */
    synchronized void set(LeaseId id, long millis) {
        forget(id);
        Expiry expiry = new Expiry(id, now() + TimeUnit.MILLISECONDS.toNanos(millis));
        byId.put(id, expiry);
        expiries.add(expiry);
        setTimer();
    }

    synchronized void forget(LeaseId id) {
        Expiry before = byId.remove(id);
        if (before != null) {
            expiries.remove(before);
        }
    }

    private void setTimer() {
        if (!expiries.isEmpty() && expiries.first().at < ringsAt && !thread.isDisposed()) {
            ringsAt = expiries.first().at;
            var unused = thread.schedule(this::ring, Math.max(0, ringsAt - now()), TimeUnit.NANOSECONDS);
        }
    }

    private void ring() {
        boolean hasExpired = false;
        synchronized (this) {
            if (now() - ringsAt < 0) {
                return; // another timer was set since
            }
            ringsAt = Long.MAX_VALUE;
            while (!expiries.isEmpty() && expiries.first().at <= now()) {
                byId.remove(expiries.pollFirst().id);
                hasExpired = true;
            }
            setTimer();
        }
        if (hasExpired) {
            bell.run();
        }
    }
}
