package io.fairgate.status;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The part of a pool that this process has, where several processes share the permits of one pool.
 *
 * @param permits that requests may hold here now, with the reserve of this process; 0 when the part has ended and no policy for outages
 *     grants any
 * @param target the permits that this process should have, by what the requests of all processes ask for, with its reserve
 * @param poolPermits the permits of the whole pool that are in force: while the processes have different settings, the fewest
 * @param nodes how many processes share the pool, this one included, as of the last answer
 * @param epoch a number that grows each time when the shared record of all parts was lost, as of the last answer
 * @param isRecovering whether no part grows, because the shared record was lost a short time ago
 * @param sinceAnswer the time since the call that brought the last answer; since the start when there was none
 * @param roundTrip how long the last call that was answered took; zero before the first answer
 * @param isInForce whether this process may grant its permits, which may be 0 in an outage; if not, requests error with
 *     {@link io.fairgate.permit.PoolUnavailableException}
 * @param isOutage whether this process grants permits by its policy for outages, because the last answer is too long ago; begins a short
 *     time before its part would end
 * @param failure why the latest call has failed; null when it was answered
 */
public record SliceStatus(
        int permits,
        int target,
        int poolPermits,
        int nodes,
        long epoch,
        boolean isRecovering,
        Duration sinceAnswer,
        Duration roundTrip,
        boolean isInForce,
        boolean isOutage,
        @Nullable String failure) {}
