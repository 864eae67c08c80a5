package io.fairgate.redis.slice;

import io.fairgate.status.SliceStatus;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a node knew and had when it was answered last.
 *
 * @param sentAt when the heartbeat that was answered began, in nanoseconds; when the node began, if there was no answer
 * @param grantsUntil when the slice ends
 * @param isOutage whether the node has gone on without answers since then, which ends by an answer only
 */
record LatestAnswer(
        int permits,
        int target,
        int poolPermits,
        int nodes,
        long epoch,
        boolean isRecovering,
        long sentAt,
        long roundTrip,
        long grantsUntil,
        boolean isOutage) {

    LatestAnswer withOutage(int permits) {
        return new LatestAnswer(
                permits, target, poolPermits, nodes, epoch, isRecovering, sentAt, roundTrip, grantsUntil, true);
    }

    /** The pool has become too small for an outage. */
    LatestAnswer withoutOutage() {
        return new LatestAnswer(
                0, target, poolPermits, nodes, epoch, isRecovering, sentAt, roundTrip, grantsUntil, false);
    }

    /** After an answer that gives no slice: the outage goes on. */
    LatestAnswer withoutSlice(long epoch, boolean isRecovering, long sentAt, long roundTrip) {
        return new LatestAnswer(
                permits, target, poolPermits, nodes, epoch, isRecovering, sentAt, roundTrip, grantsUntil, isOutage);
    }

    SliceStatus status(long now, @Nullable String failure) {
        boolean isInForce = isOutage || now - grantsUntil < 0;
        return new SliceStatus(
                isInForce ? permits : 0,
                target,
                poolPermits,
                nodes,
                epoch,
                isRecovering,
                Duration.ofNanos(now - sentAt),
                Duration.ofNanos(roundTrip),
                isInForce,
                isOutage,
                failure);
    }
}
