package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.pace.Pace;
import io.fairgate.spring.pace.PacedBody;
import io.fairgate.spring.pace.PacedResponse;
import io.fairgate.spring.pace.SlowReaderException;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.ClientLeftException;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RefusalHandler;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The step of the admission that waits for the tenant's fair share of a pool, and holds the permits until the last byte
 * of the response is written, or until anything else ends the request.
 */
public record PermitStep(
        PolicyHolder policy,
        PermitPools pools,
        ByteBudget waitingBodies,
        Pace pace,
        Decisions decisions,
        RefusalHandler failures,
        ExplainedWaits explained,
        Scheduler time) {

    /** A request whose response its client reads. */
    private record Answered(PermitStep step, ServerWebExchange exchange) implements PacedResponse.Request {

        @Override
        public boolean comesThroughProxy() {
            TrustedProxies proxies = step.policy.current().identification().proxies();
            InetAddress peer = ClientConnection.peer(exchange);
            return ClientConnection.isPeerNamed(exchange) || (peer != null && proxies.contains(peer));
        }

        @Override
        public void breakOff(SlowReaderException slow) {
            step.failures.breakOff(exchange, slow);
        }
    }

    private static final String SERVER_TIMING = "Server-Timing";
    private static final String NO_WAIT = "fairgate;dur=0.0";

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
            // A filter of the application may have had the body cached.
            ServerWebExchange request = CachedBodyFilter.onHeap(exchange);
            return isEnforced(rule)
                    ? hold(request, tenant, rule, pool, forward)
                    : dryRun(request, tenant, rule, pool, forward);
        });
    }

    /**
     * Forwards the request immediately. A second request in the pool, its shadow, waits, holds permits until the
     * request ends, or is refused in its place. So the state and the meters of the pool show what it would do.
     */
    private Mono<Void> dryRun(
            ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule, PermitPool pool, Forward forward) {
        Mono<Void> forwarded = sendUnheld(exchange, forward);
        Sinks.Empty<Void> ended = Sinks.empty();
        Disposable shadow = pool.withPermit(request(exchange, tenant, rule), ended.asMono())
                .subscribe(nothing -> {}, refusal -> decisions.noteDryRun(decisions.origin(exchange), refusal));
        return forwarded.doFinally(end -> {
            // Either the shadow holds permits and releases them, or it still waits and leaves the queue.
            ended.tryEmitEmpty();
            shadow.dispose();
        });
    }

    private Mono<Void> hold(
            ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule, PermitPool pool, Forward forward) {
        long askedAt = time.now(TimeUnit.NANOSECONDS);
        ReadAheadBody body = ReadAheadBody.of(exchange, waitingBodies);

        PoolSettings settings = pool.settings();
        Duration maxHold = rule.maxHold() == null ? settings.maxHold() : rule.maxHold();
        OnClientLeft onClientLeft = rule.onClientLeft() == null ? settings.onClientLeft() : rule.onClientLeft();
        PacedResponse response =
                new PacedResponse(ClientConnection.of(exchange), pace, pool, new Answered(this, exchange));
        UpstreamConnection upstream = new UpstreamConnection(onClientLeft, maxHold, time);
        PermitRequest request = new PermitRequest(
                tenant.id(),
                rule.permits(),
                null,
                rule.maxHold(),
                ClientConnection.eventLoop(exchange),
                Mono.defer(() -> pools.countWithoutClient(pool.name(), rule.permits(), upstream.quiesced())),
                quiesceWithin(onClientLeft, maxHold),
                body::start,
                rule.requestClass());
        Mono<Void> forwarded = Mono.defer(() -> {
            if (body.isUnwatched() && ClientSocket.hasLeft(ClientConnection.of(exchange))) {
                return Mono.error(new ClientLeftException());
            }
            upstream.begin();
            long waited = body.hasWaited() ? time.now(TimeUnit.NANOSECONDS) - askedAt : 0;
            reportWait(exchange, waited);
            explained.mark(exchange, waited);

            response.begin();
            return send(exchange, paced(exchange, body, pool, upstream), upstream, forward);
        });
        return pool.withPermit(request, forwarded.contextWrite(context -> Carried.with(context, upstream)))
                .onErrorComplete(UpstreamConnection.UnansweredException.class)
                .doFinally(end -> {
                    response.end();
                    body.discard();
                    String id = Exchanges.waitId(exchange);
                    if (id != null) {
                        decisions.noteWait(exchange, id);
                    }
                });
    }

    /** The body for the upstream; null if the request can be sent as it was received, with nothing to read first. */
    private @Nullable Flux<DataBuffer> paced(
            ServerWebExchange exchange, ReadAheadBody body, PermitPool pool, UpstreamConnection upstream) {
        if (!PacedBody.mayHaveBody(exchange.getRequest())) {
            return body.isUntouched() ? null : body.body();
        }
        return PacedBody.of(exchange, body.body(), pace, pool, upstream::isAnswered);
    }

    /** Forwards a request that needs no permits. */
    public Mono<Void> sendUnheld(ServerWebExchange exchange, Forward forward) {
        return forward.send(PacedBody.ofUnheld(exchange, pace));
    }

    private static Mono<Void> send(
            ServerWebExchange exchange, @Nullable Flux<DataBuffer> body, UpstreamConnection upstream, Forward forward) {
        ServerWebExchange request = body == null
                ? exchange
                : exchange.mutate()
                        .request(new ForwardedRequest(exchange.getRequest(), body, upstream::bodyIsWhole))
                        .build();
        return forward.send(request).then(upstream.requireAnswered());
    }

    private static PermitRequest request(ServerWebExchange exchange, TenantPolicy tenant, FairShareRule rule) {
        PermitRequest request = PermitRequest.of(tenant.id())
                .withPermits(rule.permits())
                .withMaxHold(rule.maxHold())
                .withClass(rule.requestClass());
        Executor loop = ClientConnection.eventLoop(exchange);
        return loop == null ? request : request.withEventLoop(loop);
    }

    /** The time to quiesce. With {@code close} the default (null) is enough: the connection closes with the hold. */
    private static @Nullable Duration quiesceWithin(OnClientLeft onClientLeft, Duration maxHold) {
        if (onClientLeft == OnClientLeft.CLOSE) {
            return null;
        }
        Duration within = maxHold.plus(PermitRequest.QUIESCE_WITHIN);
        return within.compareTo(PoolSettings.MAX_DURATION) < 0 ? within : PoolSettings.MAX_DURATION;
    }

    /** By its name each time: a route that the policy does not name outlives a pool that is removed and added again. */
    private PermitPool pool(FairShareRule rule) {
        PermitPool pool = pools.get(rule.pool());
        if (pool == null) {
            throw new IllegalStateException("FairShare: pool: %s (expected: a pool of the policy; this one was removed)"
                    .formatted(rule.pool()));
        }
        return pool;
    }

    private static void reportWait(ServerWebExchange exchange, long waitedNanos) {
        Exchanges.setWaited(exchange, waitedNanos);
        String entry = waitedNanos == 0 ? NO_WAIT : "fairgate;dur=" + Math.round(waitedNanos / 1e4) / 1e2;
        Exchanges.noteFields(exchange, headers -> headers.add(SERVER_TIMING, entry));
    }
}
