package io.fairgate.redis.lease;

/**
 * Permits of one pool that the pool of this gateway has granted to a lease.
 *
 * @param name that of the lease in the ledger of the pool; no other claim has it
 */
record Claim(String pool, String name, int permits) {}
