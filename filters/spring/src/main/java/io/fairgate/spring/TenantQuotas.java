package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.IdentityRefusedException.Reason;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The quotas that apply to all that a tenant does, for what takes one unit of them and is no request of a route. */
final class TenantQuotas {

    private final Quotas quotas;
    private final RouteQuotas sets;
    private final LivePolicy policy;
    private final Decisions decisions;
    private final FairgateMeters meters;

    TenantQuotas(Quotas quotas, RouteQuotas sets, LivePolicy policy, Decisions decisions, FairgateMeters meters) {
        this.quotas = quotas;
        this.sets = sets;
        this.policy = policy;
        this.decisions = decisions;
        this.meters = meters;
    }

    /** A charge for later. Errors when it would be refused now. */
    Mono<TenantCharge> check(ServerWebExchange exchange, TenantPolicy tenant) {
        return Mono.defer(() -> {
            RequestQuotas request = sets.of(exchange, tenant.id());
            if (request == null) {
                return meters.refuse(new IdentityRefusedException(Reason.UNKNOWN_TENANT));
            }
            TenantCharge charge = new TenantCharge(tenant, request, quotas, policy, meters);
            if (request.areUnlimited()) {
                return Mono.just(charge);
            }
            return quotas.check(request.quotas(), request.cost().units()).flatMap(decision -> {
                if (!decision.allowed()) {
                    return meters.refuse(tenant, decision);
                }
                if (request.isToBeCounted(decision)) {
                    meters.wouldRefuse(tenant);
                    decisions.onTrial(exchange, new QuotaRefusedException(tenant, decision));
                }
                return Mono.just(charge);
            });
        });
    }
}
