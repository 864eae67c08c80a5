package io.fairgate.fairness;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of collecting among siblings: the free permits that are collected for one large request, what that has cost so
 * far, and the holds that earlier collections waited for. {@link LargeRequests} has the rules. All times are nanoseconds of
 * the contended clock.
 */
final class CollectedPermits {

    /** Leaves whose first request is larger than what may be collected now. They do not compete meanwhile. */
    final Set<SchedulingNode> aside = new LinkedHashSet<>();

    /** The request for which permits are collected; null while none are. */
    @Nullable
    QueuedRequest request;

    /** The number of the latest collection; the grants that pass a collection are counted under it. */
    long number;

    /** Permits that idle for the request now. */
    int permits;

    /** Whether others compete with the request now. */
    boolean othersWait;

    /** How long others have waited while permits were collected for this request. */
    long othersWaited;
    /** Permit-nanoseconds that idled in that time. */
    double idled;

    /** Permits that were in flight when a collection last took too long, and that have not been released since. */
    int stillHeld;
    /** The number of the last grant before that. */
    private long lastGrantBefore;

    void start(QueuedRequest next) {
        request = next;
        number++;
        othersWaited = 0;
        idled = 0;
    }

    void pass(long nanos) {
        if (request != null && othersWait) {
            othersWaited += nanos;
            idled += (double) permits * nanos;
        }
    }

    /** A collection has taken too long: it waited for the permits that are in flight now. */
    void tookTooLong(int inFlight, long lastGrant) {
        stillHeld = inFlight;
        lastGrantBefore = lastGrant;
    }

    /** The permits of a request were released; returns whether a collection had waited for them in vain. */
    boolean cameBack(QueuedRequest released) {
        if (stillHeld == 0 || released.grant > lastGrantBefore) {
            return false;
        }
        stillHeld -= released.permits();
        return true;
    }

    /** Whether nothing is collected, no leaf is aside, and no hold of an earlier collection is left. */
    boolean isOver() {
        return request == null && aside.isEmpty() && stillHeld == 0;
    }

    /** Forgets the past collections, while nothing is collected. */
    void forget() {
        stillHeld = 0;
        aside.forEach(leaf -> leaf.isAside = false);
        aside.clear();
    }
}
