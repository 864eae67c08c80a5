package io.fairgate.spring;

import io.fairgate.permit.PermitPool;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quotas;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Refuses a request that would not pass its quotas now, before it takes a place in a queue. A request that need not wait
 * is charged at once, and the charge is a check as well; so it is checked before only when its quotas have just refused
 * another: a tenant that goes on beyond its quotas is to take no permits, not even for a moment.
 */
final class QuotaCheck {

    private final Quotas quotas;
    private final RouteQuotas routes;
    private final Decisions decisions;
    private final FairgateMeters meters;

    QuotaCheck(Quotas quotas, RouteQuotas routes, Decisions decisions, FairgateMeters meters) {
        this.quotas = quotas;
        this.routes = routes;
        this.decisions = decisions;
        this.meters = meters;
    }

    /**
     * What applies to the request: decided when this is first asked, and the same from then on, whatever policy is in force.
     *
     * @return null when the policy knows the tenant no more, which was there when the request was identified
     */
    @Nullable
    RequestQuotas quotasOf(ServerWebExchange exchange) {
        RequestQuotas known = Exchanges.quotas(exchange);
        if (known != null) {
            return known;
        }
        TenantPolicy tenant = Exchanges.tenant(exchange);
        RequestQuotas request = tenant == null ? RequestQuotas.NONE : routes.of(exchange, tenant.id());
        if (request != null) {
            Exchanges.setQuotas(exchange, request);
        }
        return request;
    }

    /** Whether a request of one permit has to be checked before it asks the pool; a hint, as the pool's own answer is. */
    static boolean isNeeded(RequestQuotas request, PermitPool pool, TenantPolicy tenant, int permits) {
        return !request.areUnlimited()
                && (permits != 1 || request.quotas().refusedLast() || !pool.hasOpenPermit(tenant.id()));
    }

    /** Completes when the request would pass now, errors when it would not. */
    Mono<Void> check(ServerWebExchange exchange, TenantPolicy tenant, RequestQuotas request) {
        return quotas.check(request.quotas(), request.cost().units()).flatMap(decision -> {
            if (!decision.allowed()) {
                return meters.refuse(tenant, decision);
            }
            if (request.isToBeCounted(decision)) {
                meters.wouldRefuse(tenant);
                decisions.onTrial(exchange, new QuotaRefusedException(tenant, decision));
            }
            return Mono.empty();
        });
    }
}
