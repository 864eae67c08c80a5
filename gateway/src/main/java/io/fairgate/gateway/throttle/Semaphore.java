package io.fairgate.gateway.throttle;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;

/**
 * A pool, as the protocol shows it.
 *
 * @param max the count that was declared for it, which may be more than a pool can have, or none at all
 * @param level whoever holds a lock may only ask for one of a lower level
 */
public record Semaphore(PermitPool pool, long max, int level) {

    String name() {
        return pool.name();
    }

    /** The largest count that a lock can have. */
    long largestLock() {
        return Math.min(max, PoolSettings.MAX_PERMITS);
    }
}
