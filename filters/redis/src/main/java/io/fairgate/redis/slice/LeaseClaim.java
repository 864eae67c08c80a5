package io.fairgate.redis.slice;

/**
 * A lease in a heartbeat: one that the node has granted just now, or one that it asserts because the ledger may have lost it.
 *
 * @param permits at least 1
 * @param ttlMillis how long the lease holds from the moment when the ledger records it
 * @param token the token that the ledger gave it; 0 when it is new
 */
record LeaseClaim(String id, int permits, long ttlMillis, long token) {

    /** Of a lease that another node has granted. No ledger gives this token. */
    private static final long NOT_TOLD = 1;

    LeaseClaim {
        if (permits < 1 || ttlMillis < 1 || token < 0) {
            throw new IllegalArgumentException(
                    "lease %s: %d permits for %d ms with token %d (expected: >= 1, >= 1, >= 0)"
                            .formatted(id, permits, ttlMillis, token));
        }
    }

    /** A lease that the ledger has, by what another node has told. */
    static LeaseClaim told(String id, int permits, long ttlMillis) {
        return new LeaseClaim(id, permits, ttlMillis, NOT_TOLD);
    }

    boolean isNew() {
        return token == 0;
    }

    /** Whether the ledger has not answered about it yet. */
    boolean isOnlyTold() {
        return token == NOT_TOLD;
    }

    LeaseClaim lasting(long forMillis) {
        return new LeaseClaim(id, permits, forMillis, token);
    }

    LeaseClaim recorded(long as) {
        return new LeaseClaim(id, permits, ttlMillis, as);
    }
}
