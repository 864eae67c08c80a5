package io.fairgate.spring;

import io.fairgate.policy.Identification;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;

/** Who a request belongs to: the tenant, or why there is no answer. */
sealed interface Identity {

    /**
     * It belongs to a tenant.
     *
     * @param named the id that it was named by, which is what the upstream is told; many name the one tenant that
     *     unknown ids share
     * @param by the ways of the policy by which it was named
     */
    record Known(TenantPolicy tenant, TenantId named, Identification by) implements Identity {}

    /** It names no tenant that may pass. */
    record Refused(IdentityRefusedException why) implements Identity {}
}
