package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Refuses a request that would not pass its tenant's quotas now, before it takes a place in a queue. */
final class QuotaCheckFilter implements GlobalFilter, Ordered {

    private final Quotas quotas;
    private final FairgateMeters meters;

    QuotaCheckFilter(Quotas quotas, FairgateMeters meters) {
        this.quotas = quotas;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.QUOTA_CHECK.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        TenantPolicy tenant = Exchanges.requireTenant(exchange);
        if (tenant.quotas().isEmpty()) {
            return chain.filter(exchange);
        }
        return quotas.check(tenant.id(), tenant.quotas(), 1)
                .flatMap(decision -> decision.allowed() ? chain.filter(exchange) : meters.refuse(tenant, decision));
    }
}
