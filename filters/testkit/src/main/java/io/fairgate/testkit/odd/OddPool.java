package io.fairgate.testkit.odd;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A pool behind a {@link Network}. Every third time it says no to a request that does not wait. */
public final class OddPool implements PermitPool {

    private final PermitPool server;
    private final Network network;
    private final AtomicInteger questions = new AtomicInteger();
    private volatile boolean isClosing;

    /** @param server the pool at the other end of the network */
    public OddPool(PermitPool server, Network network) {
        this.server = server;
        this.network = network;
    }

    private RuntimeException lost(Throwable cause) {
        return new PoolUnavailableException(name(), cause);
    }

    private <T> Mono<T> call(Mono<T> call) {
        return network.call(call, this::lost);
    }

    private boolean saysNo() {
        return network.isLost() || isClosing || questions.incrementAndGet() % 3 == 0;
    }

    @Override
    public String name() {
        return server.name();
    }

    @Override
    public PoolSettings settings() {
        return server.settings();
    }

    @Override
    public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        return network.delivered(server.reconfigure(settings, shares));
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> actual) {
                OddRequest<T> odd = new OddRequest<>(request, actual, network, OddPool.this::lost);
                odd.send(server.withPermit(odd.atServer(), Mono.defer(() -> odd.begin() ? work : odd.notBegun())));
            }
        };
    }

    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> actual) {
                OddRequest<T> odd = new OddRequest<>(request, actual, network, OddPool.this::lost);
                odd.send(server.withPermit(odd.atServer(), Flux.defer(() -> odd.begin() ? work : odd.notBegun())));
            }
        };
    }

    @Override
    public Mono<HeldPermits> acquire(PermitRequest request) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
                OddRequest<HeldPermits> odd = new OddRequest<>(request, actual, network, OddPool.this::lost);
                odd.send(server.acquire(odd.atServer()).map(Handle::new));
            }
        };
    }

    @Override
    public Mono<HeldPermits> restore(PermitRequest request) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
                OddRequest<HeldPermits> odd = new OddRequest<>(request, actual, network, OddPool.this::lost);
                odd.send(server.restore(odd.atServer()).map(Handle::new));
            }
        };
    }

    @Override
    public @Nullable HeldPermits tryAcquire(PermitRequest request) {
        HeldPermits held = saysNo() ? null : server.tryAcquire(request);
        return held == null ? null : new Handle(held);
    }

    @Override
    public boolean hasOpenPermit(TenantId tenant) {
        return !saysNo() && server.hasOpenPermit(tenant);
    }

    @Override
    public Mono<PoolTotals> totals() {
        return call(server.totals());
    }

    @Override
    public Mono<TenantStanding> standing(TenantId tenant) {
        return call(server.standing(tenant));
    }

    @Override
    public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
        return call(server.couldGrant(tenant, permits));
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return call(server.snapshot());
    }

    @Override
    public Mono<Void> close(Duration patience) {
        return call(server.close(patience).doOnSubscribe(s -> isClosing = true));
    }

    /** A handle whose release takes a tick, and waits while the connection is lost. */
    private final class Handle implements HeldPermits {

        private final HeldPermits held;
        private final AtomicBoolean isReleased = new AtomicBoolean();

        Handle(HeldPermits held) {
            this.held = held;
        }

        @Override
        public TenantId tenant() {
            return held.tenant();
        }

        @Override
        public int permits() {
            return held.permits();
        }

        @Override
        public boolean isHeld() {
            return !isReleased.get() && held.isHeld();
        }

        @Override
        public void release() {
            if (isReleased.compareAndSet(false, true)) {
                network.deliver(held::release);
            }
        }
    }
}
