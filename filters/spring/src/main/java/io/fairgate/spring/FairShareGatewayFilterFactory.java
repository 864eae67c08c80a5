package io.fairgate.spring;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.IdentityRefusedException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * {@code FairShare=POOL}: requests of this route wait for their tenant's fair share of the pool, and hold a permit
 * until the last byte of the response is written, or until anything else ends them.
 *
 * <p>Arguments: {@code pool}, and optionally {@code permits} (how many a request of this route takes, 1 by default) and
 * {@code maxHold} (how long it may hold them, such as {@code 30s}, the pool's {@code max-hold} by default; a number without a
 * unit is refused); in the long form also {@code class}
 * (the class of its requests within their tenants, by default none) and {@code onClientLeft} ({@code finish} or {@code close},
 * as the pool says by default). For the Java DSL:
 * {@code f.filter(fairShare.apply(c -> c.setPool("orders")))}.
 *
 * <p>One on a route: a request that holds permits of one pool while it waits for another can wait for one that does the
 * reverse, until {@code max-wait} ends it.
 */
public final class FairShareGatewayFilterFactory
        extends AbstractGatewayFilterFactory<FairShareGatewayFilterFactory.Config> {

    private static final String SERVER_TIMING = "Server-Timing";

    private final LivePolicy policy;
    private final PermitPools pools;
    private final QuotaCheck quotas;
    private final FairgateMeters meters;
    private final ByteBudget waitingBodies;
    private final Decisions decisions;
    private final PermitsWithoutClient withoutClient;
    private final Scheduler time;

    FairShareGatewayFilterFactory(
            LivePolicy policy,
            PermitPools pools,
            QuotaCheck quotas,
            FairgateMeters meters,
            ByteBudget waitingBodies,
            Decisions decisions,
            PermitsWithoutClient withoutClient,
            Scheduler time) {
        super(Config.class);
        this.policy = policy;
        this.pools = pools;
        this.withoutClient = withoutClient;
        this.quotas = quotas;
        this.meters = meters;
        this.decisions = decisions;
        this.waitingBodies = waitingBodies;
        this.time = time;
    }

    @Override
    public String name() {
        return "FairShare";
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("pool", "permits", "maxHold");
    }

    /** @throws IllegalArgumentException when there is no such pool, or it can never grant that many permits */
    @Override
    public GatewayFilter apply(Config config) {
        PoolSettings settings = config.pool == null ? null : pools.settingsForRoutes(config.pool);
        if (settings == null) {
            throw new IllegalArgumentException(
                    "FairShare: pool: %s (expected: one of %s)".formatted(config.pool, pools.namesForRoutes()));
        }
        if (config.permits < 1 || config.permits > settings.permits()) {
            throw new IllegalArgumentException("FairShare: permits: %d (expected: 1 to %d, the size of pool %s)"
                    .formatted(config.permits, settings.permits(), config.pool));
        }
        if (config.maxHold != null && (config.maxHold.isZero() || config.maxHold.isNegative())) {
            throw new IllegalArgumentException(
                    "FairShare: maxHold: %s (expected: more than 0)".formatted(config.maxHold));
        }
        if (config.requestClass != null && !pools.classesForRoutes().contains(config.requestClass)) {
            throw new IllegalArgumentException("FairShare: class: %s (expected: one of %s)"
                    .formatted(config.requestClass, pools.classesForRoutes()));
        }
        return new OrderedGatewayFilter(
                (exchange, chain) -> hold(exchange, chain, config), FilterOrder.FAIR_SHARE.order());
    }

    private Mono<Void> hold(ServerWebExchange received, GatewayFilterChain chain, Config config) {
        return Mono.defer(() -> {
            // A filter of the application may have had the body cached since.
            ServerWebExchange exchange = CachedBodyFilter.onHeap(received);
            if (Exchanges.identity(exchange) instanceof Identity.Refused) {
                return chain.filter(exchange); // The policy is on trial, and this is nobody's.
            }
            PermitPool pool = pool(config);
            TenantPolicy tenant = Exchanges.requireTenant(exchange);
            RequestQuotas used = quotas.quotasOf(exchange);
            if (used == null) {
                return meters.refuse(new IdentityRefusedException(Reason.UNKNOWN_TENANT));
            }
            if (!policy.current().enforcement().isOn(pool.name())) {
                Exchanges.setPool(exchange, pool.name());
                return PoolOnTrial.beside(
                        pool,
                        request(exchange, tenant, config),
                        chain.filter(exchange),
                        failure -> decisions.onTrial(exchange, failure));
            }
            ReadAheadBody body = new ReadAheadBody(exchange.getRequest().getBody(), waitingBodies);
            boolean readable = mayReadAhead(exchange);
            AtomicBoolean waited = new AtomicBoolean();
            long askedAt = time.now(TimeUnit.NANOSECONDS);
            PoolSettings settings = pools.settings(pool.name());
            Duration maxHold = config.maxHold == null ? settings.maxHold() : config.maxHold;
            OnClientLeft onClientLeft = config.onClientLeft == null ? settings.onClientLeft() : config.onClientLeft;
            UpstreamConnection upstream = new UpstreamConnection(onClientLeft, maxHold, time);
            PermitRequest request = request(exchange, tenant, config)
                    .withSettled(withoutClient.during(pool.name(), config.permits, upstream.settled()))
                    .withSettleWithin(settleWithin(onClientLeft, maxHold))
                    .withOnWaiting(() -> {
                        waited.set(true);
                        if (readable) {
                            body.start();
                        }
                    });
            Mono<Void> forward = Mono.defer(() -> {
                boolean unwatched = waited.get() && (body.isPaused() || !readable);
                if (unwatched && ClientSocket.hasLeft(Exchanges.connection(exchange))) {
                    return Mono.error(new ClientLeftException());
                }
                upstream.begin();
                Exchanges.setPool(exchange, pool.name());
                long waitedNanos = time.now(TimeUnit.NANOSECONDS) - askedAt;
                Exchanges.setWaited(exchange, waitedNanos);
                reportWait(exchange, waitedNanos);
                return chain.filter(exchange.mutate()
                                .request(
                                        new ForwardedRequest(exchange.getRequest(), body.body(), upstream::bodyIsWhole))
                                .build())
                        .then(upstream.requireAnswered());
            });
            Mono<Void> held = pool.withPermit(
                            request, forward.contextWrite(c -> c.put(UpstreamConnection.class, upstream)))
                    .onErrorComplete(UpstreamConnection.UnansweredException.class)
                    .doFinally(end -> body.discard());
            return QuotaCheck.isNeeded(used, pool, tenant, config.permits)
                    ? quotas.check(exchange, tenant, used).then(held)
                    : held;
        });
    }

    private static PermitRequest request(ServerWebExchange exchange, TenantPolicy tenant, Config config) {
        PermitRequest request = PermitRequest.of(tenant.id())
                .withPermits(config.permits)
                .withMaxHold(config.maxHold)
                .withClass(config.requestClass);
        Executor home = Exchanges.home(exchange);
        return home == null ? request : request.withHome(home);
    }

    /** The connection is closed when the hold is over; that is then waited for as usual. */
    private static @Nullable Duration settleWithin(OnClientLeft onClientLeft, Duration maxHold) {
        if (onClientLeft == OnClientLeft.CLOSE) {
            return null;
        }
        Duration within = maxHold.plus(PermitRequest.SETTLE_WITHIN);
        return within.compareTo(PoolSettings.MAX_DURATION) < 0 ? within : PoolSettings.MAX_DURATION;
    }

    /** By its name, for a route that does not come from the policy outlives a pool that goes and comes again. */
    private PermitPool pool(Config config) {
        PermitPool pool = config.pool == null ? null : pools.get(config.pool);
        if (pool == null) {
            throw new IllegalStateException(
                    "FairShare: pool: %s, which the policy names no more (expected: no route that asks for it)"
                            .formatted(config.pool));
        }
        return pool;
    }

    /**
     * A client that asked to be told to continue has not sent its body; reading it would tell it to. A body that the
     * gateway has cached, as it does for retries, has been read already.
     */
    private static boolean mayReadAhead(ServerWebExchange exchange) {
        return !"100-continue"
                        .equalsIgnoreCase(exchange.getRequest().getHeaders().getFirst(HttpHeaders.EXPECT))
                && !CachedBodyFilter.isCached(exchange);
    }

    private static void reportWait(ServerWebExchange exchange, long waitedNanos) {
        String entry = "fairgate;dur=" + Math.round(waitedNanos / 1e4) / 1e2;
        exchange.getResponse().beforeCommit(() -> {
            exchange.getResponse().getHeaders().add(SERVER_TIMING, entry);
            return Mono.empty();
        });
    }

    /** What a route says: a bean with setters, because that is what Spring Cloud Gateway binds arguments to. */
    public static final class Config {
        private @Nullable String pool;
        private int permits = 1;
        private @Nullable Duration maxHold;
        private @Nullable OnClientLeft onClientLeft;
        private @Nullable String requestClass;

        public @Nullable String getPool() {
            return pool;
        }

        public Config setPool(String pool) {
            this.pool = pool;
            return this;
        }

        public int getPermits() {
            return permits;
        }

        public Config setPermits(int permits) {
            this.permits = permits;
            return this;
        }

        /** Of the type that properties are bound to: of several setters, Boot's binder takes the one that goes with it. */
        public @Nullable DurationSetting getMaxHold() {
            return maxHold == null ? null : new DurationSetting(maxHold);
        }

        public Config setMaxHold(DurationSetting maxHold) {
            return setMaxHold(maxHold.value());
        }

        /** For the Java DSL. */
        public Config setMaxHold(Duration maxHold) {
            this.maxHold = maxHold;
            return this;
        }

        public @Nullable OnClientLeft getOnClientLeft() {
            return onClientLeft;
        }

        /** As the pool says if it is never called. */
        public Config setOnClientLeft(OnClientLeft onClientLeft) {
            this.onClientLeft = onClientLeft;
            return this;
        }

        /** The class of the requests; {@code getClass} is taken, so there is nothing to read it by. */
        public Config setClass(String requestClass) {
            this.requestClass = requestClass;
            return this;
        }
    }
}
