package io.fairgate.spring.quota;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.spring.refusal.Decisions.Origin;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A charge of one unit to a tenant's quotas, checked and then made; the same if the policy changes meanwhile. */
public final class TenantCharge {

    private final QuotaStep quotas;
    private final Origin origin;
    private final RequestQuotas request;
    private volatile QuotaDecision latest = QuotaDecision.UNLIMITED;

    public TenantCharge(QuotaStep quotas, Origin origin, RequestQuotas request) {
        this.quotas = quotas;
        this.origin = origin;
        this.request = request;
    }

    /** Errors when the charge would be refused now. */
    public Mono<TenantCharge> check() {
        return quotas.check(() -> origin, request).thenReturn(this);
    }

    /**
     * Makes the charge. Must be subscribed only once. Errors when the quotas are used up, and then charges nothing.
     * Other requests of the tenant may have used them up since the check.
     */
    public Mono<Void> make() {
        return Mono.defer(() -> quotas.charge(() -> origin, request))
                .doOnNext(decision -> latest = decision)
                .then();
    }

    /** Adds the balances of the quotas to a response, once they have been charged. */
    public void addBalances(ServerWebExchange exchange) {
        quotas.addBalances(exchange.getResponse().getHeaders(), latest);
    }
}
