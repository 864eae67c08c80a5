package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Refuses a request that would not pass its quotas now, before it takes a place in a queue. */
final class QuotaCheckFilter implements GlobalFilter, Ordered {

    private final Quotas quotas;
    private final RouteQuotas routes;
    private final FairgateMeters meters;

    QuotaCheckFilter(Quotas quotas, RouteQuotas routes, FairgateMeters meters) {
        this.quotas = quotas;
        this.routes = routes;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.QUOTA_CHECK.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            RequestQuotas request = routes.of(exchange);
            Exchanges.setQuotas(exchange, request);
            if (request.areUnlimited()) {
                return chain.filter(exchange);
            }
            TenantPolicy tenant = Exchanges.requireTenant(exchange);
            return quotas.check(request.quotas(), request.cost().units()).flatMap(decision -> {
                if (!decision.allowed()) {
                    return meters.refuse(tenant, decision);
                }
                meters.wouldRefuse(tenant, request.toCount(decision.wouldRefuse()));
                return chain.filter(exchange);
            });
        });
    }
}
