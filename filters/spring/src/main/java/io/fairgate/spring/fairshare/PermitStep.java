package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.ClientLeftException;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The step of the admission that waits for the tenant's fair share of a pool, and holds the permits until the last byte
 * of the response is written, or until anything else ends the request.
 */
public final class PermitStep {

    private static final String SERVER_TIMING = "Server-Timing";

    private final LivePolicy policy;
    private final PermitPools pools;
    private final ByteBudget waitingBodies;
    private final Decisions decisions;
    private final PermitsWithoutClient withoutClient;
    private final Scheduler time;

    PermitStep(
            LivePolicy policy,
            PermitPools pools,
            ByteBudget waitingBodies,
            Decisions decisions,
            PermitsWithoutClient withoutClient,
            Scheduler time) {
        this.policy = policy;
        this.pools = pools;
        this.waitingBodies = waitingBodies;
        this.decisions = decisions;
        this.withoutClient = withoutClient;
        this.time = time;
    }

    /** Whether a request may have to wait for its permits. A hint, as {@link PermitPool#hasOpenPermit} is. */
    public boolean mayWait(TenantPolicy tenant, FairShareRule rule) {
        return isEnforced(rule) && (rule.permits() != 1 || !pool(rule).hasOpenPermit(tenant.id()));
    }

    private boolean isEnforced(FairShareRule rule) {
        return policy.current().enforcement().isOn(rule.pool());
    }

    /** Forwards the request while it holds its permits. Errors as {@link PermitPool#withPermit} does. */
    public Mono<Void> hold(ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule, Forward forward) {
        return Mono.defer(() -> {
            PermitPool pool = pool(rule);
            return isEnforced(rule)
                    // A filter of the application may have had the body cached.
                    ? hold(CachedBodyFilter.onHeap(exchange), tenant, rule, pool, forward)
                    : dryRun(exchange, tenant, rule, pool, forward);
        });
    }

    private Mono<Void> dryRun(
            ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule, PermitPool pool, Forward forward) {
        Exchanges.setPool(exchange, pool.name());
        return DryRunPool.beside(
                pool,
                request(exchange, tenant, rule),
                forward.send(exchange),
                refusal -> decisions.noteDryRun(Origin.of(exchange), refusal));
    }

    private Mono<Void> hold(
            ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule, PermitPool pool, Forward forward) {
        WaitingRequest waiting = new WaitingRequest(exchange, waitingBodies, time);
        PoolSettings settings = pools.settings(pool.name());
        Duration maxHold = rule.maxHold() == null ? settings.maxHold() : rule.maxHold();
        OnClientLeft onClientLeft = rule.onClientLeft() == null ? settings.onClientLeft() : rule.onClientLeft();
        UpstreamConnection upstream = new UpstreamConnection(onClientLeft, maxHold, time);
        PermitRequest request = request(exchange, tenant, rule)
                .withSettled(withoutClient.during(pool.name(), rule.permits(), upstream.settled()))
                .withSettleWithin(settleWithin(onClientLeft, maxHold))
                .withOnWaiting(waiting::begin);
        Mono<Void> forwarded = Mono.defer(() -> {
            if (waiting.clientHasLeft()) {
                return Mono.error(new ClientLeftException());
            }
            upstream.begin();
            Exchanges.setPool(exchange, pool.name());
            reportWait(exchange, waiting.waitedNanos());
            return send(exchange, waiting.body(), upstream, forward);
        });
        return pool.withPermit(request, forwarded.contextWrite(c -> c.put(UpstreamConnection.class, upstream)))
                .onErrorComplete(UpstreamConnection.UnansweredException.class)
                .doFinally(end -> waiting.discardBody());
    }

    private static Mono<Void> send(
            ServerWebExchange exchange, Flux<DataBuffer> body, UpstreamConnection upstream, Forward forward) {
        return forward.send(exchange.mutate()
                        .request(new ForwardedRequest(exchange.getRequest(), body, upstream::bodyIsWhole))
                        .build())
                .then(upstream.requireAnswered());
    }

    private static PermitRequest request(ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule) {
        PermitRequest request = PermitRequest.of(tenant.id())
                .withPermits(rule.permits())
                .withMaxHold(rule.maxHold())
                .withClass(rule.requestClass());
        Executor loop = Exchanges.eventLoop(exchange);
        return loop == null ? request : request.withHome(loop);
    }

    /**
     * The time to wait until the request has settled. With {@code close} the connection is closed when the hold ends,
     * so the default (null) is long enough.
     */
    private static @Nullable Duration settleWithin(OnClientLeft onClientLeft, Duration maxHold) {
        if (onClientLeft == OnClientLeft.CLOSE) {
            return null;
        }
        Duration within = maxHold.plus(PermitRequest.SETTLE_WITHIN);
        return within.compareTo(PoolSettings.MAX_DURATION) < 0 ? within : PoolSettings.MAX_DURATION;
    }

    /**
     * Looks the pool up by its name each time: a route that does not come from the policy outlives a pool that is
     * removed and added again.
     */
    private PermitPool pool(FairShareRule rule) {
        PermitPool pool = pools.get(rule.pool());
        if (pool == null) {
            throw new IllegalStateException(
                    "FairShare: pool: %s, which the policy does not name any more (expected: no route that asks for it)"
                            .formatted(rule.pool()));
        }
        return pool;
    }

    private static void reportWait(ServerWebExchange exchange, long waitedNanos) {
        Exchanges.setWaited(exchange, waitedNanos);
        String entry = "fairgate;dur=" + Math.round(waitedNanos / 1e4) / 1e2;
        exchange.getResponse().beforeCommit(() -> {
            exchange.getResponse().getHeaders().add(SERVER_TIMING, entry);
            return Mono.empty();
        });
    }
}
