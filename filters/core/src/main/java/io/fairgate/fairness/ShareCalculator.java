package io.fairgate.fairness;

/**
 * A cap of each tenant that depends on how many are there: for those who want to decide for themselves what a share is.
 *
 * <p>It has to be a function of its arguments: it is asked once for each number of tenants, when the pool is made or
 * changed, and not while permits are handed out.
 */
@FunctionalInterface
public interface ShareCalculator {

    /** Numbers of tenants that it is asked for at most; more of them are given what this many are. */
    int MOST_TENANTS = 1024;

    /**
     * How many permits each tenant may hold at the same time. A smaller {@code max-in-flight} of the tenant's own counts
     * instead, and a guarantee is not cut.
     *
     * @param permits of the pool
     * @param activeTenants that hold or want something, at least 1; at most {@code permits}, or {@link #MOST_TENANTS}
     * @return at least 1
     */
    int maxInFlight(int permits, int activeTenants);
}
