package io.fairgate.permit.embedded;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;

/**
 * The bound and the end of the slice of this process, and what was told about it ({@link PoolSlice}). A pool of one process has
 * all permits without an end.
 *
 * <p>Threads: any thread reads and sets the end; the rest is only for the drain.
 */
final class SliceBound {

    private volatile long endsAt = Deadlines.NEVER;
    private int most = Integer.MAX_VALUE;
    private Runnable changed = () -> {};
    private boolean isShared;

    /** The permits of the largest request of each tenant that was refused because it may not wait, since this was last taken. */
    private Map<TenantId, Double> refused = new HashMap<>();

    /** Whether requests waited for permits of the pool, or were refused instead, after the last decisions. */
    private boolean wasShort;
    /** How many permits more than the bound were in flight after the last decisions. */
    private int wasAbove;

    /** Sets the end, in nanoseconds since the pool was made. */
    void endsAt(long time) {
        endsAt = time;
    }

    long endsAt() {
        return endsAt;
    }

    boolean isUnending() {
        return endsAt == Deadlines.NEVER;
    }

    boolean hasEnded(long now) {
        return now >= endsAt;
    }

    /** Has {@code changed} called when more or fewer permits may be needed. */
    void tell(Runnable changed) {
        this.changed = changed;
        isShared = true;
    }

    /** A request was refused that would have waited for a permit of the pool: its tenant may need one more here. */
    void refused(QueuedRequest request) {
        if (isShared) {
            refused.merge(request.tenant(), (double) request.permits(), Math::max);
        }
    }

    /** What was refused since the last call. */
    Map<TenantId, Double> takeRefused() {
        Map<TenantId, Double> taken = refused;
        refused = new HashMap<>();
        return taken;
    }

    void limit(int most, int inFlight) {
        this.most = most;
        wasAbove = above(inFlight);
    }

    /** After decisions. */
    void decided(boolean isWaitedFor, int inFlight) {
        boolean isShort = isWaitedFor || !refused.isEmpty();
        int above = above(inFlight);
        if ((isShort && !wasShort) || above < wasAbove) {
            changed.run();
        }
        wasShort = isShort;
        wasAbove = above;
    }

    private int above(int inFlight) {
        return Math.max(0, inFlight - most);
    }
}
