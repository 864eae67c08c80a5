package io.fairgate.status;

/**
 * The state of one tenant in a pool at one moment.
 *
 * @param pool the totals of the pool at the same moment
 * @param inFlight permits that the tenant holds
 * @param waiting requests of the tenant that wait
 * @param share permits that the tenant is entitled to now: its max-min fair share, given what all tenants hold and ask for
 * @param weight the tenant's relative claim on the pool
 */
public record TenantStanding(PoolTotals pool, int inFlight, int waiting, double share, double weight) {}
