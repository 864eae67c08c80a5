package io.fairgate.permit;

import io.fairgate.shares.TenantShares;

/** Makes the pools of a program: the one place that names their backend. */
@FunctionalInterface
public interface PoolFactory {

    /**
     * Makes a pool. Must not block.
     *
     * @throws IllegalArgumentException when the tenants reserve more than the pool has, or a calculated cap is below 1
     */
    PermitPool newPool(String name, PoolSettings settings, TenantShares shares, PoolListener listener);
}
