package io.fairgate.spring.identity;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** The tenant of a request, or the reason why it has none. */
public sealed interface Identity {

    /** The identity that was noted on the exchange; null when the request has not been identified yet. */
    static @Nullable Identity of(ServerWebExchange exchange) {
        return exchange.getAttribute(Identity.class.getName());
    }

    /** Notes the identity on the exchange, so that every later step gets the same one. */
    default void noteOn(ServerWebExchange exchange) {
        exchange.getAttributes().put(Identity.class.getName(), this);
        if (this instanceof Known known) {
            Exchanges.setTenant(exchange, known.tenant());
        }
    }

    /**
     * The request belongs to a tenant.
     *
     * @param named the id in the request, which the upstream gets; all unknown ids may share one tenant
     * @param by the sources of the policy that identified it
     */
    record Known(TenantPolicy tenant, TenantId named, IdentitySources by) implements Identity {

        /** The request without the credentials that the upstream must not get. */
        public ServerWebExchange strip(ServerWebExchange exchange) {
            return by.strip(exchange);
        }
    }

    /** The request names no tenant that may pass. */
    record Refused(IdentityRefusedException why) implements Identity {}
}
