package io.fairgate.fairness;

/**
 * How a pool stands as a whole at one moment.
 *
 * @param permits its size
 * @param inFlight permits held; above {@code permits} only after the pool has shrunk
 * @param waiting requests that wait
 */
public record PoolTotals(int permits, int inFlight, int waiting) {}
