package io.fairgate.redis.slice;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.SliceStatus;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * A pool whose permits several processes share. Each of them decides about its requests by a pool of its own, within a slice that
 * a ledger gives it, so that a request never waits for the network. Without an answer of the ledger the slice ends after a
 * while. Then the pool goes on as its {@link OutagePolicy} says; if this grants nothing, requests error with {@link
 * io.fairgate.permit.PoolUnavailableException} until the ledger answers again.
 *
 * <p>{@link #settings}, totals, standings and snapshots are those of this process: their permits are the size of the whole pool, what
 * is in flight and waits is here. They are answered without the ledger, and so is the end of {@link #close}. Permits that are
 * {@linkplain #restore restored} count here only, and so do those that are {@linkplain #acquire acquired}, until {@link LeasePermits}
 * records them.
 */
public final class RedisPermitPool implements PermitPool {

    private final EmbeddedPermitPool local;
    private final SliceNode node;
    private final LeasePermits leases;
    private final Sinks.Empty<Void> closed = Sinks.empty();

    /**
     * A pool in Redis, which begins to send heartbeats.
     *
     * @param failover how long a server of Redis that was replaced may go on to accept writes
     * @param outagePolicy what this process grants while Redis does not answer
     * @param heartbeats the thread of the heartbeats
     */
    public static RedisPermitPool start(
            String name,
            PoolSettings settings,
            TenantShares shares,
            PoolListener listener,
            RedisConnections redis,
            Duration failover,
            OutagePolicy outagePolicy,
            Scheduler heartbeats) {
        SliceTerm term = SliceTerm.USUAL;
        SliceLedger ledger = new RedisLedger(name, new SliceScripts(term, failover.toMillis()), redis);
        return new RedisPermitPool(
                name,
                settings,
                shares,
                listener,
                ledger,
                term,
                outagePolicy,
                new NodeNames(UUID.randomUUID()),
                MonotonicScheduler.INSTANCE,
                heartbeats);
    }

    /**
     * Begins to send heartbeats.
     *
     * @param names a name that no other node has and had, each time
     * @param time the clock and the timers; must be monotonic
     * @param heartbeats the thread of the heartbeats
     */
    RedisPermitPool(
            String name,
            PoolSettings settings,
            TenantShares shares,
            PoolListener listener,
            SliceLedger ledger,
            SliceTerm term,
            OutagePolicy outagePolicy,
            Supplier<String> names,
            Scheduler time,
            Scheduler heartbeats) {
        shares.requireFit(settings.permits());
        TenantShares here = shares.withCapsForReservations(settings.permits());
        local = new EmbeddedPermitPool(name, settings, here, time, listener);
        node = new SliceNode(local, shares, ledger, term, outagePolicy, names, time, heartbeats);
        leases = new LeasePermits(node);
        node.start();
    }

    /** Keeps leases of permits of this pool in the ledger, so that they outlive this process. */
    public LeasePermits leases() {
        return leases;
    }

    @Override
    public String name() {
        return local.name();
    }

    @Override
    public PoolSettings settings() {
        return local.settings();
    }

    /** In force here at once. While nodes have different sizes of the pool, none of them grows beyond the smallest. */
    @Override
    public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        shares.requireFit(settings.permits());
        TenantShares here = shares.withCapsForReservations(settings.permits());
        return local.reconfigure(settings, here).doOnSubscribe(begun -> node.reconfigure(settings.permits(), shares));
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return local.withPermit(request, work);
    }

    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return local.withPermit(request, work);
    }

    @Override
    public Mono<HeldPermits> acquire(PermitRequest request) {
        return local.acquire(request);
    }

    @Override
    public Mono<HeldPermits> restore(PermitRequest request) {
        return local.restore(request);
    }

    @Override
    public @Nullable HeldPermits tryAcquire(PermitRequest request) {
        return local.tryAcquire(request);
    }

    @Override
    public boolean hasOpenPermit(TenantId tenant) {
        return local.hasOpenPermit(tenant);
    }

    @Override
    public Mono<PoolTotals> totals() {
        return local.totals();
    }

    @Override
    public Mono<TenantStanding> standing(TenantId tenant) {
        return local.standing(tenant);
    }

    @Override
    public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
        return local.couldGrant(tenant, permits);
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return local.snapshot();
    }

    @Override
    public SliceStatus slice() {
        return node.status();
    }

    /** The slice goes back to the ledger when nothing is in flight any more, also when the caller has cancelled. */
    @Override
    public Mono<Void> close(Duration patience) {
        return Mono.defer(() -> {
            var unused = local.close(patience)
                    .then(node.stop())
                    .subscribe(nothing -> {}, failed -> {}, closed::tryEmitEmpty);
            return closed.asMono();
        });
    }
}
