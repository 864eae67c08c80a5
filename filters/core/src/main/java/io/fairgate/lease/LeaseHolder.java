package io.fairgate.lease;

import io.fairgate.tenant.TenantId;

/**
 * The holder of a lease.
 *
 * @param tenant the tenant that its permits are counted for
 * @param owner the tenant id that the holder named; many unknown ids share one tenant, and have nothing else in common
 * @param name the name that the holder gives itself, for people to read
 */
public record LeaseHolder(TenantId tenant, TenantId owner, String name) {

    /** A holder whose tenant is known by the id that it named. */
    public static LeaseHolder of(TenantId tenant, String name) {
        return new LeaseHolder(tenant, tenant, name);
    }
}
