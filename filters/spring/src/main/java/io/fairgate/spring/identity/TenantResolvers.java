package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;

/** Finds the beans of the application that identify tenants. */
@FunctionalInterface
public interface TenantResolvers {

    /** The bean that a policy names. Throws when the application has no such bean. */
    TenantResolver get(IdentitySource.Bean source);
}
