package io.fairgate.gateway.throttle;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;

/**
 * A pool, in the terms of the protocol.
 *
 * @param max the declared count, which may be larger than a pool can be, or not positive
 * @param level the holder of a lock may only request locks of a lower level
 */
public record Semaphore(PermitPool pool, long max, int level) {

    String name() {
        return pool.name();
    }

    /** @throws ThrottleError when a lock can never have that count */
    void requireCount(long count) {
        long largest = Math.min(max, PoolSettings.MAX_PERMITS);
        if (count > largest) {
            throw ThrottleError.never(count, largest);
        }
    }
}
