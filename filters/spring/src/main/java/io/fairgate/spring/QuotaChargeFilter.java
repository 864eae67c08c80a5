package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.IdentityRefusedException.Reason;
import io.netty.channel.EventLoop;
import java.util.function.Supplier;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Charges the quotas of a request once it may go, and tells the client how they stand. A request that waited in vain never
 * comes here, so it is not charged. A request that did not have to wait was not checked before, and others of the tenant may
 * have used the quota up while another waited; then it is refused here.
 *
 * <p>After the last byte, or whatever else ends the request, the charge is settled: given back when nothing was sent
 * upstream, corrected when the response tells the cost.
 */
final class QuotaChargeFilter implements GlobalFilter, Ordered {

    private final Quotas quotas;
    private final QuotaCheck check;
    private final LivePolicy policy;
    private final Decisions decisions;
    private final FairgateMeters meters;

    QuotaChargeFilter(Quotas quotas, QuotaCheck check, LivePolicy policy, Decisions decisions, FairgateMeters meters) {
        this.quotas = quotas;
        this.check = check;
        this.policy = policy;
        this.decisions = decisions;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.QUOTA_CHARGE.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            RequestQuotas request = check.quotasOf(exchange);
            if (request == null) {
                return meters.refuse(new IdentityRefusedException(Reason.UNKNOWN_TENANT));
            }
            if (request.areUnlimited()) {
                return chain.filter(exchange);
            }
            QuotaCharge charge =
                    new QuotaCharge(request.quotas(), request.cost().units());
            UpstreamWork work = new UpstreamWork(request.cost());
            return quotas.charge(charge)
                    .flatMap(decision -> atHome(exchange, () -> charged(exchange, chain, decision, request, work)))
                    .contextWrite(context -> context.put(UpstreamWork.class, work))
                    // Not a step of the chain: what ends the request must not wait for it, and a cancelled one has
                    // none.
                    .doFinally(end -> settle(charge, work.units(exchange, end)));
        });
    }

    /** What had to wait for a disk or another process comes back on a thread of theirs. */
    private static Mono<Void> atHome(ServerWebExchange exchange, Supplier<Mono<Void>> rest) {
        return Exchanges.home(exchange) instanceof EventLoop home && !home.inEventLoop()
                ? Mono.defer(rest).subscribeOn(Schedulers.fromExecutor(home))
                : rest.get();
    }

    private Mono<Void> charged(
            ServerWebExchange exchange,
            GatewayFilterChain chain,
            QuotaDecision decision,
            RequestQuotas request,
            UpstreamWork work) {
        TenantPolicy tenant = Exchanges.requireTenant(exchange);
        if (!decision.allowed()) {
            return meters.refuse(tenant, decision);
        }
        if (request.isToBeCounted(decision)) {
            meters.wouldRefuse(tenant);
            decisions.onTrial(exchange, new QuotaRefusedException(tenant, decision));
        }
        exchange.getResponse().beforeCommit(() -> {
            RateLimitFields.add(
                    exchange.getResponse().getHeaders(),
                    decision.balances(),
                    policy.current().quotaTerms().told());
            return Mono.empty();
        });
        return chain.filter(work.isCountedByBytes() ? counted(exchange, work) : exchange);
    }

    private static ServerWebExchange counted(ServerWebExchange exchange, UpstreamWork work) {
        return exchange.mutate()
                .response(new ChargedResponse(exchange.getResponse(), work))
                .build();
    }

    private void settle(QuotaCharge charge, long actual) {
        if (actual != charge.units() || !charge.isCharged()) {
            var unused = quotas.settle(charge, actual).subscribe();
        }
    }
}
