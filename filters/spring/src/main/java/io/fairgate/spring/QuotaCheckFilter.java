package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.IdentityRefusedException.Reason;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Refuses a request that would not pass its quotas now, before it takes a place in a queue. */
final class QuotaCheckFilter implements GlobalFilter, Ordered {

    private final Quotas quotas;
    private final RouteQuotas routes;
    private final Decisions decisions;
    private final FairgateMeters meters;

    QuotaCheckFilter(Quotas quotas, RouteQuotas routes, Decisions decisions, FairgateMeters meters) {
        this.quotas = quotas;
        this.routes = routes;
        this.decisions = decisions;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.QUOTA_CHECK.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            TenantPolicy tenant = Exchanges.tenant(exchange);
            RequestQuotas request = tenant == null ? RequestQuotas.NONE : routes.of(exchange, tenant.id());
            if (request == null) {
                return meters.refuse(new IdentityRefusedException(Reason.UNKNOWN_TENANT));
            }
            Exchanges.setQuotas(exchange, request);
            if (tenant == null || request.areUnlimited()) {
                return chain.filter(exchange);
            }
            return quotas.check(request.quotas(), request.cost().units()).flatMap(decision -> {
                if (!decision.allowed()) {
                    return meters.refuse(tenant, decision);
                }
                if (request.isToBeCounted(decision)) {
                    meters.wouldRefuse(tenant);
                    decisions.onTrial(exchange, new QuotaRefusedException(tenant, decision));
                }
                return chain.filter(exchange);
            });
        });
    }
}
