package io.fairgate.lease;

/**
 * The leases that wait in one pool.
 *
 * @param leases the number of waiting leases
 * @param permits the sum of the permits that they wait for
 * @param longestNanos the longest wait of a lease that is first in the queue of its tenant; 0 when none waits
 */
public record WaitingLeases(int leases, long permits, long longestNanos) {}
