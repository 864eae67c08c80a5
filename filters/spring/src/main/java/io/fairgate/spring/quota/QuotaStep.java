package io.fairgate.spring.quota;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.identity.IdentityRefusedException;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RateLimitFields;
import io.fairgate.spring.refusal.RefusalMeters;
import io.netty.channel.EventLoop;
import java.util.function.Supplier;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The step of the admission that checks and charges the quotas of a tenant, for requests of routes and for leases.
 *
 * <p>A request that may have to wait is checked before it takes a place in the queue, and charged when it has its
 * permit: a request that waited in vain is not charged. A request that need not wait is charged at once; the charge is
 * also the check.
 */
public final class QuotaStep {

    private final Quotas quotas;
    private final RouteQuotas routes;
    private final LivePolicy policy;
    private final Decisions decisions;
    private final RefusalMeters refusals;

    QuotaStep(Quotas quotas, RouteQuotas routes, LivePolicy policy, Decisions decisions, RefusalMeters refusals) {
        this.quotas = quotas;
        this.routes = routes;
        this.policy = policy;
        this.decisions = decisions;
        this.refusals = refusals;
    }

    /**
     * The quotas and the cost of a request. They stay the same if the policy changes before the charge.
     *
     * @throws IdentityRefusedException when the policy has lost the tenant since the request was identified
     */
    public RequestQuotas of(ServerWebExchange exchange, TenantPolicy tenant, RouteRules rules) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        QuotaSet set = routes.of(tenant.id(), route == null ? null : route.getId());
        if (set == null) {
            refusals.refused(null, Reason.UNKNOWN_TENANT.label, true);
            throw new IdentityRefusedException(Reason.UNKNOWN_TENANT);
        }
        return new RequestQuotas(tenant, set, CostRule.cost(exchange, rules));
    }

    /**
     * Errors when the request has to be checked and would be refused now.
     *
     * <p>It has to be checked when it may wait, and when its quotas refused the request before it: a tenant that
     * continues beyond its quotas gets no permits, not even for a moment.
     */
    public Mono<Void> checkBeforeWaiting(ServerWebExchange exchange, RequestQuotas request, boolean mayWait) {
        return mayWait || request.quotas().refusedLast() ? check(() -> Origin.of(exchange), request) : Mono.empty();
    }

    /** Errors when the request would be refused now. */
    Mono<Void> check(Supplier<Origin> origin, RequestQuotas request) {
        return request.areUnlimited()
                ? Mono.empty()
                : quotas.check(request.quotas(), request.cost().units())
                        .flatMap(decision -> require(origin, request, decision).then());
    }

    /**
     * Charges the quotas; emits nothing when there is nothing to charge. Errors when the quotas refuse, and then
     * charges nothing.
     */
    public Mono<QuotaDecision> charge(Supplier<Origin> origin, RequestQuotas request, QuotaCharge charge) {
        return request.areUnlimited()
                ? Mono.empty()
                : quotas.charge(charge).flatMap(decision -> require(origin, request, decision));
    }

    /**
     * Charges the request, forwards it, and adds the balances of its quotas to the response.
     *
     * <p>The charge is settled when the request ends, in whatever way: given back when nothing was sent to the
     * upstream, corrected when the response gives the cost.
     */
    public Mono<Void> charge(ServerWebExchange exchange, RequestQuotas request, Forward forward) {
        if (request.areUnlimited()) {
            return forward.send(exchange);
        }
        QuotaCharge charge = request.charge();
        UpstreamWork work = new UpstreamWork(request.cost());
        return charge(() -> Origin.of(exchange), request, charge)
                .flatMap(decision -> onEventLoop(exchange, () -> {
                    tellBalances(exchange, decision);
                    return forward.send(work.isCountedByBytes() ? counted(exchange, work) : exchange);
                }))
                .contextWrite(context -> context.put(UpstreamWork.class, work))
                // Not a step of the chain: the end of the request must not wait for it, and a cancelled chain has no
                // next step.
                .doFinally(end -> settle(charge, work.units(exchange, end)));
    }

    private Mono<QuotaDecision> require(Supplier<Origin> origin, RequestQuotas request, QuotaDecision decision) {
        TenantPolicy tenant = request.tenant();
        if (!decision.allowed()) {
            refusals.refused(tenant.id(), QuotaRefusedException.REASON, true);
            return Mono.error(new QuotaRefusedException(decision));
        }
        if (request.isDryRunToBeNoted(decision)) {
            refusals.refused(tenant.id(), QuotaRefusedException.REASON, false);
            decisions.noteDryRun(origin.get(), new QuotaRefusedException(decision));
        }
        return Mono.just(decision);
    }

    /**
     * Runs the rest on the client's event loop, because a backend that waits for a disk or another process answers on a
     * thread of its own.
     */
    private static Mono<Void> onEventLoop(ServerWebExchange exchange, Supplier<Mono<Void>> rest) {
        return Exchanges.eventLoop(exchange) instanceof EventLoop loop && !loop.inEventLoop()
                ? Mono.defer(rest).subscribeOn(Schedulers.fromExecutor(loop))
                : rest.get();
    }

    private void tellBalances(ServerWebExchange exchange, QuotaDecision decision) {
        exchange.getResponse().beforeCommit(() -> {
            addBalances(exchange, decision);
            return Mono.empty();
        });
    }

    /** Adds the {@code RateLimit} fields to the response. */
    void addBalances(ServerWebExchange exchange, QuotaDecision decision) {
        RateLimitFields.add(
                exchange.getResponse().getHeaders(),
                decision.balances(),
                policy.current().quotaTerms().headerStyle());
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
