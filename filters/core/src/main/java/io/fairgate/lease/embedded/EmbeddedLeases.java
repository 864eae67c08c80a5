package io.fairgate.lease.embedded;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseEndedException;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseIds;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseListener.End;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Leases in the memory of this process.
 *
 * <p>A lease gives back its permits and its place in the queue at the moment of its end: no call sees an expired lease.
 *
 * <p><b>Threads.</b> One lock guards the state; signals, listeners and pools are called outside of the lock. A call can block
 * only on that lock, which is held for a few steps. Answers come on the subscribing thread, unless a call waits for permits.
 */
public final class EmbeddedLeases implements Leases {

    private final LeaseLedger ledger;
    private final LeaseIds ids = new LeaseIds(LeaseIds.newSecret());
    private final long beganAt;
    private volatile boolean isDraining;

    /** @param time the clock and the timer; must be monotonic */
    public EmbeddedLeases(LeasedPools pools, Scheduler time, FencingTokens tokens) {
        this.ledger = new LeaseLedger(pools, time, tokens);
        this.beganAt = time.now(TimeUnit.NANOSECONDS);
    }

    /** Takes a step for each subscription; empty when its result is null. */
    private <T> Mono<T> locked(Function<LedgerStep, @Nullable T> action) {
        return Mono.fromCallable(() -> ledger.locked(action));
    }

    @Override
    public void listen(LeaseListener listener) {
        ledger.listeners.add(listener);
    }

    @Override
    public Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return Mono.fromCallable(() -> opened(id, holder, term) != null);
    }

    private @Nullable OpenLease opened(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return ledger.locked(step -> {
            if (ledger.find(id) != null) {
                return null;
            }
            if (ledger.ended.contains(holder.tenant(), id, step.now)) {
                throw new LeaseEndedException(id);
            }
            OpenLease lease = new OpenLease(id, holder, term, step.now);
            ledger.add(lease);
            return lease;
        });
    }

    @Override
    public Mono<Boolean> acquire(
            LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        return Mono.defer(() -> {
            LeaseAcquisition acquisition = ledger.locked(step -> {
                OpenLease lease = ledger.require(id);
                Mono<Void> toPay = payment.apply(ledger.status(lease, step.now));
                return acquisition(lease, request, toPay, step);
            });
            if (acquisition == null) {
                return Mono.just(true);
            }
            Duration wait = request.answerWithin();
            Mono<Boolean> answer = Mono.defer(() -> acquisition.answer.within(wait, ledger.time));
            return wait.isZero() ? acquisition.settled().then(answer) : answer;
        });
    }

    /** The acquisition of the permits that the lease lacks; null when it holds all of them. */
    private @Nullable LeaseAcquisition acquisition(
            OpenLease lease, LeaseRequest request, @Nullable Mono<Void> toPay, LedgerStep step) {
        Map<String, Integer> lacking = new TreeMap<>(request.permits());
        lease.grants.forEach(grant -> lacking.remove(grant.pool()));
        if (lacking.isEmpty()) {
            return null;
        }
        if (isDraining) {
            throw new LeaseGoneException(lease.id);
        }
        LeaseAcquisition waiting = lease.waiting;
        if (waiting == null) {
            lacking.keySet().forEach(ledger::requirePool);
            LeaseRequest rest = new LeaseRequest(lacking, request.answerWithin(), request.ttl());
            waiting = LeaseAcquisition.begin(ledger, lease, rest, step);
        } else if (!waiting.permits.equals(lacking)) {
            throw new IllegalStateException("lease %s already waits for %s, and cannot also wait for %s"
                    .formatted(lease.id, waiting.permits, lacking));
        }
        waiting.pay(toPay);
        Duration ttl = request.ttl();
        if (ttl != null) {
            long expiry = step.now + request.answerWithin().toNanos() + ledger.boundedNanos(lease, ttl);
            ledger.expireAt(lease, Math.max(lease.expiresAt, ledger.bounded(lease, expiry)));
        }
        return waiting;
    }

    @Override
    public Mono<Duration> extend(LeaseId id, Duration ttl) {
        return locked(step -> {
            OpenLease lease = ledger.find(id);
            if (lease == null) {
                return null;
            }
            ledger.expireAt(lease, ledger.bounded(lease, step.now + ledger.boundedNanos(lease, ttl)));
            lease.extendedUntil = lease.expiresAt;
            Duration lasts = Duration.ofNanos(lease.expiresAt - step.now);
            LeaseStatus status = ledger.status(lease, step.now);
            ledger.publish(step, listener -> listener.extended(status, lasts));
            return lasts;
        });
    }

    @Override
    public Mono<Boolean> release(LeaseId id) {
        return locked(step -> {
            OpenLease lease = ledger.find(id);
            if (lease != null) {
                ledger.end(lease, End.RELEASED, step);
            }
            return lease != null;
        });
    }

    @Override
    public Mono<Void> forget(LeaseId id) {
        return Mono.fromRunnable(() -> ledger.run(step -> {
            OpenLease lease = ledger.find(id);
            if (lease != null && lease.grants.isEmpty() && lease.waiting == null) {
                ledger.end(lease, End.RELEASED, step);
            }
        }));
    }

    @Override
    public Mono<Boolean> release(LeaseId id, String pool) {
        return locked(step -> {
            OpenLease lease = ledger.require(id);
            OpenLease.Grant grant = lease.grantOf(pool);
            LeaseAcquisition waiting = lease.waiting;
            if (grant != null) {
                LeaseStatus status = ledger.status(lease, step.now);
                LeaseStatus.Held held = Objects.requireNonNull(status.held(pool));
                ledger.publish(step, listener -> listener.released(status, held));
                ledger.removeGrant(lease, grant, step);
                return true;
            } else if (waiting != null && waiting.permits.containsKey(pool)) {
                waiting.leavePool(pool, step);
                return true;
            }
            return false;
        });
    }

    @Override
    public Mono<Boolean> restore(LeaseId id, LeaseHolder holder, LeaseTerm term, HeldBefore before) {
        return Mono.defer(() -> {
            before.permits().keySet().forEach(ledger::requirePool);
            OpenLease lease = opened(id, holder, before.bounded(term, ledger.pools));
            return lease == null ? Mono.just(false) : new LeaseRestore(ledger, lease, before).run();
        });
    }

    @Override
    public Mono<Void> bury(LeaseId id, TenantId tenant, Duration remembered) {
        return Mono.fromRunnable(() -> ledger.run(step -> {
            if (ledger.find(id) == null) {
                ledger.ended.put(tenant, id, remembered.toNanos(), step.now);
            }
        }));
    }

    @Override
    public Mono<LeaseMemory> memory() {
        return Mono.fromSupplier(
                () -> new LeaseMemory(ids, Duration.ofNanos(ledger.time.now(TimeUnit.NANOSECONDS) - beganAt)));
    }

    @Override
    public Mono<LeaseStatus> status(LeaseId id) {
        return locked(step -> {
            OpenLease lease = ledger.find(id);
            return lease == null ? null : ledger.status(lease, step.now);
        });
    }

    @Override
    public Flux<LeaseId> ids() {
        return locked(step -> List.copyOf(ledger.ids())).flatMapIterable(ids -> ids);
    }

    @Override
    public Flux<LeaseId> ids(TenantId tenant) {
        return locked(step ->
                        ledger.leases(tenant).stream().map(lease -> lease.id).toList())
                .flatMapIterable(ids -> ids);
    }

    @Override
    public Mono<LeaseCount> count() {
        return locked(step -> new LeaseCount(ledger.ids().size(), ledger.holding, ledger.queues.size()));
    }

    @Override
    public Mono<Integer> count(TenantId tenant) {
        return locked(step -> ledger.leases(tenant).size());
    }

    @Override
    public Mono<WaitingLeases> waiting(String pool) {
        return locked(step -> ledger.queues.waiting(pool, step.now));
    }

    @Override
    public Mono<Void> drain() {
        return Mono.fromRunnable(() -> {
            isDraining = true;
            ledger.run(step -> List.copyOf(ledger.all()).forEach(lease -> drain(lease, step)));
        });
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() ->
                ledger.run(step -> List.copyOf(ledger.all()).forEach(lease -> ledger.end(lease, End.RELEASED, step))));
    }

    private void drain(OpenLease lease, LedgerStep step) {
        LeaseAcquisition waiting = lease.waiting;
        if (lease.grants.isEmpty()) {
            ledger.end(lease, End.RELEASED, step);
        } else if (waiting != null) {
            waiting.leave(step);
            step.after(() -> waiting.answer.fail(new LeaseGoneException(lease.id)));
        }
    }
}
