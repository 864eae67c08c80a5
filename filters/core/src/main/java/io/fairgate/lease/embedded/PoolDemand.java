package io.fairgate.lease.embedded;

/**
 * The demand of leases that wait in one pool.
 *
 * @param leases the number of waiting leases
 * @param permits the sum of the permits that they ask for
 * @param longestNanos the longest wait of a lease that is first in the queue of its tenant; 0 when none waits
 */
public record PoolDemand(int leases, long permits, long longestNanos) {}
