package io.fairgate.lease.embedded;

/**
 * What leases want of one pool and do not have yet.
 *
 * @param leases that wait there
 * @param permits that they ask for together
 * @param longestNanos since the one that has waited longest has asked; 0 when none waits
 */
public record PoolDemand(int leases, long permits, long longestNanos) {}
