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

    /** @throws ThrottleError when no lock can have that count */
    void requireCount(long count) {
        long largest = Math.min(max, PoolSettings.MAX_PERMITS);
        if (count > largest) {
            throw ThrottleError.never(count, largest);
        }
    }
}
