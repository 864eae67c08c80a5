package io.fairgate.redis.slice;

/**
 * A lease in a heartbeat: one that the node has granted just now, or one that it asserts because the ledger may have lost it.
 *
 * @param permits at least 1
 * @param ttlMillis how long the lease holds from the moment when the ledger records it
 * @param token the token that the ledger gave it; 0 when it is new, and 1 when this node does not know it
 */
record LeaseClaim(String id, int permits, long ttlMillis, long token) {

    LeaseClaim {
        if (permits < 1 || ttlMillis < 1 || token < 0) {
            throw new IllegalArgumentException(
                    "lease %s: %d permits for %d ms with token %d (expected: >= 1, >= 1, >= 0)"
                            .formatted(id, permits, ttlMillis, token));
        }
    }

    /** A lease that another node has granted. */
    static LeaseClaim ofAnother(String id, int permits, long ttlMillis) {
        return new LeaseClaim(id, permits, ttlMillis, 1);
    }

    boolean isNew() {
        return token == 0;
    }

    LeaseClaim lasting(long forMillis) {
        return new LeaseClaim(id, permits, forMillis, token);
    }

    LeaseClaim recorded(long as) {
        return new LeaseClaim(id, permits, ttlMillis, as);
    }
}
