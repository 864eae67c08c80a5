package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.Quotas;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** One unit of a tenant's own quotas, checked before and charged once, whatever policy is in force by then. */
public final class TenantCharge {

    private final TenantPolicy tenant;
    private final RequestQuotas request;
    private final Quotas quotas;
    private final LivePolicy policy;
    private final FairgateMeters meters;
    private volatile QuotaDecision latest = QuotaDecision.UNLIMITED;

    TenantCharge(TenantPolicy tenant, RequestQuotas request, Quotas quotas, LivePolicy policy, FairgateMeters meters) {
        this.tenant = tenant;
        this.request = request;
        this.quotas = quotas;
        this.policy = policy;
        this.meters = meters;
    }

    /**
     * Charges. To be subscribed once. Errors when the quotas are used up meanwhile; then nothing is charged. Others of the
     * tenant may have used them up since the check.
     */
    public Mono<Void> make() {
        return Mono.defer(() -> {
            if (request.areUnlimited()) {
                return Mono.empty();
            }
            QuotaCharge charge =
                    new QuotaCharge(request.quotas(), request.cost().units());
            return quotas.charge(charge).flatMap(decision -> {
                if (!decision.allowed()) {
                    return meters.refuse(tenant, decision);
                }
                if (request.isToBeCounted(decision)) {
                    meters.wouldRefuse(tenant);
                }
                latest = decision;
                return Mono.empty();
            });
        });
    }

    /** Adds to an answer how the quotas stand, once they have been charged. */
    public void tell(ServerWebExchange exchange) {
        RateLimitFields.add(
                exchange.getResponse().getHeaders(),
                latest.balances(),
                policy.current().quotaTerms().told());
    }
}
