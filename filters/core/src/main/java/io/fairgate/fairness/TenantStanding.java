package io.fairgate.fairness;

/**
 * How one tenant stands in a pool at one moment.
 *
 * @param pool the pool as a whole, at the same moment
 * @param inFlight permits that the tenant holds
 * @param waiting requests of the tenant that wait
 * @param share permits that the tenant is entitled to now: the max-min fair share of what it holds and asks for
 * @param weight the tenant's relative claim on the pool
 */
public record TenantStanding(PoolTotals pool, int inFlight, int waiting, double share, double weight) {}
