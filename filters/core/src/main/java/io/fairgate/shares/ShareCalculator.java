package io.fairgate.shares;

/**
 * Calculates a cap for each tenant from the number of active tenants, for programs with a formula of their own.
 *
 * <p>It must be a pure function of its arguments: it is called for each number of tenants when the pool is made or
 * reconfigured, and not while permits are granted.
 */
@FunctionalInterface
public interface ShareCalculator {

    /** The largest number of tenants for which the calculator is called; its result applies to larger numbers as well. */
    int MOST_TENANTS = 1024;

    /**
     * How many permits each tenant may hold at the same time. If the tenant's own {@code max-in-flight} is smaller, that
     * applies instead. The cap never goes below the tenant's guarantee.
     *
     * @param permits the size of the pool
     * @param activeTenants tenants that hold or wait for permits, at least 1; at most {@code permits}, or
     *     {@link #MOST_TENANTS}
     * @return at least 1
     */
    int maxInFlight(int permits, int activeTenants);
}
