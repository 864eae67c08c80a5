package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Charges the tenant's quotas once the request may go, and tells the client how they stand. A request that waited in
 * vain never comes here, so it is not charged. Others of the tenant may have used the quota up while it waited; then it
 * is refused here.
 */
final class QuotaChargeFilter implements GlobalFilter, Ordered {

    private final Quotas quotas;
    private final FairgateMeters meters;

    QuotaChargeFilter(Quotas quotas, FairgateMeters meters) {
        this.quotas = quotas;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.QUOTA_CHARGE.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        TenantPolicy tenant = Exchanges.requireTenant(exchange);
        if (tenant.quotas().isEmpty()) {
            return chain.filter(exchange);
        }
        return quotas.charge(tenant.id(), tenant.quotas(), 1).flatMap(decision -> {
            if (!decision.allowed()) {
                return meters.refuse(tenant, decision);
            }
            exchange.getResponse().beforeCommit(() -> {
                RateLimitFields.add(exchange.getResponse().getHeaders(), decision.balances());
                return Mono.empty();
            });
            return chain.filter(exchange);
        });
    }
}
