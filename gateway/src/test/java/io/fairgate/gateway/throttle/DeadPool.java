package io.fairgate.gateway.throttle;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A pool that answers nothing. */
final class DeadPool implements PermitPool {

    @Override
    public String name() {
        return "dead";
    }

    @Override
    public PoolSettings settings() {
        return PoolSettings.ofPermits(1);
    }

    @Override
    public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        return Mono.never();
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return Mono.never();
    }

    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return Flux.never();
    }

    @Override
    public Mono<HeldPermits> acquire(PermitRequest request) {
        return Mono.never();
    }

    @Override
    public Mono<HeldPermits> restore(PermitRequest request) {
        return Mono.never();
    }

    @Override
    public @Nullable HeldPermits tryAcquire(PermitRequest request) {
        return null;
    }

    @Override
    public Mono<PoolTotals> totals() {
        return Mono.never();
    }

    @Override
    public Mono<TenantStanding> standing(TenantId tenant) {
        return Mono.never();
    }

    @Override
    public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
        return Mono.never();
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return Mono.never();
    }

    @Override
    public Mono<Void> close(Duration patience) {
        return Mono.never();
    }
}
