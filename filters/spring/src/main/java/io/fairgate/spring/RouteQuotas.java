package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.tenant.TenantId;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;

/** Which quotas apply to a request under the policy that is in force; worked out once for each policy. */
final class RouteQuotas {

    private final LivePolicy policy;
    private volatile Known known;

    private record Known(Policy policy, QuotaSets sets) {
        static Known of(Policy policy) {
            return new Known(policy, new QuotaSets(policy));
        }
    }

    RouteQuotas(LivePolicy policy) {
        this.policy = policy;
        this.known = Known.of(policy.current());
    }

    RequestQuotas of(ServerWebExchange exchange, TenantId tenant) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        return new RequestQuotas(sets().of(tenant, route == null ? null : route.getId()), Exchanges.cost(exchange));
    }

    /** Those of the policy in force. Two threads may work them out at once after a change; the results are the same. */
    @SuppressWarnings("ReferenceEquality") // a policy that was read anew is another one, and comparing them takes long
    QuotaSets sets() {
        Policy current = policy.current();
        Known latest = known;
        if (latest.policy != current) {
            latest = Known.of(current);
            known = latest;
        }
        return latest.sets;
    }
}
