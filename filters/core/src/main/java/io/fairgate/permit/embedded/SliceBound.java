package io.fairgate.permit.embedded;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The bound and the end of the slice of this process, and what was told about it ({@link PoolSlice}). A pool of one process has
 * all permits without an end.
 *
 * <p>Threads: any thread reads and sets the end; the rest is only for the drain.
 */
final class SliceBound {

    /** Twice the second after which a refused client may send its request again ({@code Retry-After}). */
    private static final long REFUSED_COUNTS_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** More tenants whose requests were refused are not told. */
    private static final int MOST_REFUSED = 1_000;

    private volatile long endsAt = Deadlines.NEVER;
    private int most = Integer.MAX_VALUE;
    private Runnable changed = () -> {};
    private boolean isShared;

    /** What tenants would have waited for, if they might wait: the largest request of each, until when it counts. */
    private final Map<TenantId, Refused> refused = new HashMap<>();

    private boolean isMoreRefused;

    /**
     * The largest request of a tenant that was refused.
     *
     * @param until when it does not count any more
     * @param isServed whether the tenant has been granted as many permits at once since then
     */
    record Refused(int permits, long until, boolean isServed) {}

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

    /**
     * A request was refused that would have waited for permits of the pool. It counts like one that waits for a while, so that permits
     * are here when its client comes again.
     */
    void refused(QueuedRequest request, long now) {
        TenantId tenant = request.tenant();
        Refused before = refused.get(tenant);
        if (isShared && (before != null || refused.size() < MOST_REFUSED)) {
            int most = Math.max(request.permits(), before == null ? 0 : before.permits);
            refused.put(tenant, new Refused(most, now + REFUSED_COUNTS_NANOS, false));
            isMoreRefused |= before == null || before.permits < most;
        }
    }

    void granted(QueuedRequest request) {
        if (!refused.isEmpty()) {
            refused.computeIfPresent(
                    request.tenant(),
                    (tenant, each) ->
                            new Refused(each.permits, each.until, each.isServed || each.permits <= request.permits()));
        }
    }

    /** What was refused a short time ago. */
    Map<TenantId, Refused> refused(long now) {
        refused.values().removeIf(each -> now >= each.until);
        isMoreRefused = false;
        return Map.copyOf(refused);
    }

    void limit(int most, int inFlight) {
        this.most = most;
        wasAbove = above(inFlight);
    }

    /** After decisions. */
    void decided(boolean isWaitedFor, int inFlight) {
        boolean isShort = isWaitedFor || isMoreRefused;
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
