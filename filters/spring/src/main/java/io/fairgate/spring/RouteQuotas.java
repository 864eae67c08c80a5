package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;

/** Which quotas apply to a request under the policy that is in force; worked out once for each policy, before it is. */
final class RouteQuotas implements LivePolicy.Follower {

    private volatile QuotaSets sets;
    /** Of the policy that is being prepared; only changes of the policy use it, one after another. */
    private QuotaSets next;

    RouteQuotas(Policy policy) {
        sets = new QuotaSets(policy);
        next = sets;
    }

    @Override
    public void prepare(Policy policy) {
        next = new QuotaSets(policy);
    }

    @Override
    public void follow(Policy policy) {
        sets = next;
    }

    /** Null when the policy knows the tenant no more, which was there when the request was identified. */
    @Nullable
    RequestQuotas of(ServerWebExchange exchange, TenantId tenant) {
        QuotaSets now = sets;
        if (!now.know(tenant)) {
            return null;
        }
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        return new RequestQuotas(now.of(tenant, route == null ? null : route.getId()), Exchanges.cost(exchange));
    }
}
