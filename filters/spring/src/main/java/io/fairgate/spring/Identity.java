package io.fairgate.spring;

import io.fairgate.policy.Identification;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import org.springframework.web.server.ServerWebExchange;

/** The tenant of a request, or why it has none. */
sealed interface Identity {

    /**
     * The request belongs to a tenant.
     *
     * @param named the id by which the request named it, which the upstream gets; all unknown ids may share one tenant
     * @param by how the policy identifies tenants
     */
    record Known(TenantPolicy tenant, TenantId named, Identification by) implements Identity {

        /** The request without the credentials that the upstream must not get. */
        ServerWebExchange strip(ServerWebExchange exchange) {
            return CredentialHeaders.strip(exchange, by);
        }
    }

    /** The request names no tenant that may pass. */
    record Refused(IdentityRefusedException why) implements Identity {}
}
