package io.fairgate.spring.quota;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.identity.IdentityRefusedException;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RateLimitFields;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.tenant.TenantId;
import io.netty.channel.EventLoop;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The step of the admission that checks and charges the quotas of a tenant, for requests of routes and for leases. A
 * request that may have to wait is checked before it takes a place in the queue, and charged when it has its permit: a
 * wait in vain is not charged. A request that need not wait is charged at once; the charge is also the check.
 */
public final class QuotaStep implements PolicyParticipant {

    private final Quotas quotas;
    private final PolicyHolder policy;
    private final Decisions decisions;
    private final RefusalMeters refusals;
    /** The quotas by tenant and route, computed once for each policy. */
    private volatile QuotaSets sets;
    /** For the policy that is being prepared. Used only by changes of the policy, which run one at a time. */
    private QuotaSets nextSets;

    QuotaStep(Quotas quotas, PolicyHolder policy, Decisions decisions, RefusalMeters refusals) {
        this.quotas = quotas;
        this.policy = policy;
        this.decisions = decisions;
        this.refusals = refusals;
        this.nextSets = new QuotaSets(policy.current());
        this.sets = nextSets;
    }

    @Override
    public Order order() {
        return Order.QUOTAS;
    }

    @Override
    public void prepare(Policy next) {
        nextSets = new QuotaSets(next);
    }

    @Override
    public void commit(Policy next) {
        sets = nextSets;
    }

    /**
     * The quotas and the cost of a request. They stay the same if the policy changes before the charge.
     *
     * @throws IdentityRefusedException when the policy has lost the tenant since the request was identified
     */
    public RequestQuotas of(ServerWebExchange exchange, TenantPolicy tenant, RouteRules rules) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        QuotaSets now = sets;
        if (!now.know(tenant.id())) {
            refusals.refused(null, Reason.UNKNOWN_TENANT.label, true);
            throw new IdentityRefusedException(Reason.UNKNOWN_TENANT);
        }
        QuotaSet set = now.of(tenant.id(), route == null ? null : route.getId());
        CostRule cost = rules.last(CostRule.class);
        return cost == null
                ? new RequestQuotas(tenant, set, 1, null)
                : new RequestQuotas(tenant, set, cost.units(exchange), cost.response());
    }

    /**
     * Errors when the request has to be checked, and would be refused now. It has to be when it may wait, and when its
     * quotas refused the request before it: a tenant that goes on beyond its quotas gets no permits, not even briefly.
     */
    public Mono<Void> checkBeforeWaiting(ServerWebExchange exchange, RequestQuotas request, boolean mayWait) {
        return mayWait || request.quotas().refusedLast()
                ? onEventLoop(exchange, check(() -> decisions.origin(exchange), request), passed -> Mono.empty())
                : Mono.empty();
    }

    /** Errors when the request would be refused now; emits nothing when there is nothing to check. */
    Mono<QuotaDecision> check(Supplier<Origin> origin, RequestQuotas request) {
        return request.areUnlimited()
                ? Mono.empty()
                : quotas.check(request.quotas(), request.units())
                        .flatMap(decision -> require(origin, request, decision));
    }

    /** Charges the quotas; emits nothing if there is nothing to charge. Errors if they refuse, and charges nothing. */
    Mono<QuotaDecision> charge(Supplier<Origin> origin, RequestQuotas request) {
        if (request.areUnlimited()) {
            return Mono.empty();
        }
        QuotaCharge charge = quotas.newCharge(request.quotas(), request.units());
        return charge.charge()
                .flatMap(decision -> require(origin, request, decision))
                .doOnError(failure -> settle(charge, 0))
                .doOnCancel(() -> settle(charge, 0));
    }

    /**
     * Charges the request, forwards it, and adds the balances of its quotas to the response. However the request ends,
     * the charge is settled: given back if nothing was sent upstream, corrected if the response gives the cost.
     */
    public Mono<Void> charge(ServerWebExchange exchange, RequestQuotas request, Forward forward) {
        if (request.areUnlimited()) {
            return forward.send(exchange);
        }
        QuotaCharge charge = quotas.newCharge(request.quotas(), request.units());
        UpstreamWork work = new UpstreamWork(request.units(), request.response());
        Mono<QuotaDecision> charged =
                charge.charge().flatMap(decision -> require(() -> decisions.origin(exchange), request, decision));
        return onEventLoop(exchange, charged, decision -> {
                    Exchanges.noteFields(exchange, headers -> addBalances(headers, decision));
                    return forward.send(work.counted(exchange));
                })
                .contextWrite(context -> Carried.with(context, work))
                // Not a step of the chain: the request must not wait for it, and a cancelled chain has no next step.
                .doFinally(end -> settle(charge, work.units(exchange, end)));
    }

    private Mono<QuotaDecision> require(Supplier<Origin> origin, RequestQuotas request, QuotaDecision decision) {
        TenantId tenant = request.tenant().id();
        if (!decision.allowed()) {
            refusals.refused(tenant, QuotaRefusedException.REASON, true);
            return Mono.error(new QuotaRefusedException(decision));
        }
        if (!decision.wouldRefuse().isEmpty()) {
            noteDryRun(origin.get(), tenant, new QuotaRefusedException(decision));
        }
        return Mono.just(decision);
    }

    /** Once for a request on a route: one that is refused at the check would never have been charged. */
    private void noteDryRun(Origin request, TenantId tenant, QuotaRefusedException refusal) {
        boolean isNoted = request.decisions().stream()
                .anyMatch(noted -> noted.reason().equals(QuotaRefusedException.REASON)
                        && Objects.equals(noted.route(), request.route()));
        if (!isNoted) {
            refusals.refused(tenant, QuotaRefusedException.REASON, false);
            decisions.noteDryRun(request, refusal);
        }
    }

    /**
     * Goes on after a decision, or with its error, on the client's event loop: a backend that waits for a disk or a network answers
     * on its own thread.
     */
    private static Mono<Void> onEventLoop(
            ServerWebExchange exchange, Mono<QuotaDecision> decided, Function<QuotaDecision, Mono<Void>> rest) {
        return decided.flatMap(decision -> onEventLoop(exchange, () -> rest.apply(decision)))
                .onErrorResume(failure -> onEventLoop(exchange, () -> Mono.error(failure)));
    }

    private static Mono<Void> onEventLoop(ServerWebExchange exchange, Supplier<Mono<Void>> rest) {
        return ClientConnection.eventLoop(exchange) instanceof EventLoop loop && !loop.inEventLoop()
                ? Mono.defer(rest).subscribeOn(Schedulers.fromExecutor(loop))
                : rest.get();
    }

    void addBalances(HttpHeaders headers, QuotaDecision decision) {
        RateLimitFields.add(
                headers, decision.balances(), policy.current().quotaTerms().headerStyle());
    }

    private static void settle(QuotaCharge charge, long actual) {
        if (actual != charge.units() || !charge.isCharged()) {
            // A backend that is out of reach for too long reports by itself what it could not settle.
            var unused = charge.settle(actual)
                    .onErrorComplete(QuotasUnavailableException.class)
                    .subscribe();
        }
    }
}
