package io.fairgate.status;

/**
 * The totals of a pool at one moment.
 *
 * @param permits the size of the pool
 * @param inFlight permits held; above {@code permits} only after the pool has shrunk
 * @param waiting requests that wait
 */
public record PoolTotals(int permits, int inFlight, int waiting) {}
