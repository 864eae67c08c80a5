package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The permits that a lease waits for: the requests to the pools, and what follows from their answers.
 *
 * <p>An acquisition of permits of several pools waits in the queue of one pool, and holds nothing. Once that pool grants, it
 * takes the permits of the others if they are free; otherwise it releases all and waits in the queue of the pool that lacked
 * permits. So no acquisition waits while it holds permits, and two of them cannot deadlock in any order of pools.
 */
final class LeaseAcquisition {

    final OpenLease lease;
    final Map<String, Integer> permits;
    final long requestedAt;
    final PendingAnswer answer = new PendingAnswer();

    private final LeaseLedger ledger;
    /** The time to expiry from the grant on; null when the grant does not change the expiry. */
    private final @Nullable Duration ttl;

    /** The pool in whose queue it waits. Guarded by the lock of the ledger. */
    String pool;

    /** Its number in its {@link LeaseQueue}. Guarded by the lock of the ledger. */
    int number;

    /** Subscribed to when the pools have granted. Guarded by the lock of the ledger. */
    private Mono<Void> payment = Mono.empty();

    /** What the pools have granted while it is being paid; null before and afterwards. Guarded by the lock of the ledger. */
    private @Nullable Map<String, HeldPermits> unpaid;

    private volatile boolean isBeingPaid;

    private final Sinks.Empty<Void> submitted = Sinks.empty();
    private final Disposable.Swap poolRequest = Disposables.swap();

    private LeaseAcquisition(LeaseLedger ledger, OpenLease lease, LeaseRequest request, long now) {
        this.ledger = ledger;
        this.lease = lease;
        this.permits = request.permits();
        this.ttl = request.ttl();
        this.pool = permits.keySet().iterator().next();
        this.requestedAt = now;
    }

    // ---- under the lock of the ledger ----

    /** Lets the lease wait for permits, which are requested after the lock. */
    static LeaseAcquisition begin(LeaseLedger ledger, OpenLease lease, LeaseRequest request, LedgerStep step) {
        LeaseAcquisition acquisition = new LeaseAcquisition(ledger, lease, request, step.now);
        lease.waiting = acquisition;
        ledger.queues.add(acquisition);
        step.after(acquisition::submit);
        return acquisition;
    }

    /** The number of permits that it wants of the pool in whose queue it waits. */
    int permitsOfPool() {
        return permits.getOrDefault(pool, 0);
    }

    private boolean isWanted() {
        return !lease.isGone && lease.waiting == this;
    }

    /** @param later null leaves the earlier payment in its place, and so does a payment that has begun */
    void pay(@Nullable Mono<Void> later) {
        if (later != null && unpaid == null) {
            payment = later.cache();
        }
    }

    /** The lease waits no longer. Leaves the queue of the pool after the lock, or gives back what was not paid yet. */
    void leave(LedgerStep step) {
        lease.waiting = null;
        ledger.queues.remove(this);
        step.after(poolRequest::dispose);
        if (unpaid != null) {
            unpaid.values().forEach(held -> step.after(held::release));
            unpaid = null;
        }
    }

    /** Gives up the place in the queue of one pool, and waits anew for the permits of the others. */
    void leavePool(String left, LedgerStep step) {
        leave(step);
        step.after(() -> answer.complete(false));
        Map<String, Integer> others = new TreeMap<>(permits);
        others.remove(left);
        if (!others.isEmpty()) {
            begin(ledger, lease, new LeaseRequest(others, Duration.ZERO, ttl), step)
                    .pay(payment);
        }
    }

    // ---- outside the lock: requests to pools, and their answers ----

    /**
     * Completes when the request has reached the pool, the pool has processed all earlier calls, and what it has granted is paid.
     * Another thread may be about to request the permits, or may be at work in the pool, which grants free permits a moment
     * later: in all these cases the answer must not be that the lease waits.
     */
    Mono<Void> settled() {
        return submitted
                .asMono()
                .then(Mono.defer(() -> {
                    PermitPool first = ledger.pools.find(pool);
                    return first == null ? Mono.empty() : first.inFlight();
                }))
                .then(Mono.defer(() -> isBeingPaid ? answer.known() : Mono.empty()));
    }

    private void submit() {
        try {
            request(pool);
        } finally {
            submitted.tryEmitEmpty();
        }
    }

    /** Requests the permits of one pool, which may have been removed since the lease asked for it. */
    private void request(String from) {
        PermitPool asked = ledger.pools.find(from);
        if (asked == null) {
            refused(LeaseLedger.unknownPool(from));
            return;
        }
        // The handle of a request that need not wait is smaller, and many may be held for long.
        HeldPermits free = asked.tryAcquire(requestTo(from));
        if (free != null) {
            granted(from, free);
            return;
        }
        PoolAnswer poolAnswer = new PoolAnswer(from);
        poolRequest.update(poolAnswer);
        asked.acquire(requestTo(from)).subscribe(poolAnswer);
    }

    private PermitRequest requestTo(String from) {
        return lease.permitRequest(permits.getOrDefault(from, 1));
    }

    private final class PoolAnswer extends BaseSubscriber<HeldPermits> {
        private final String from;

        PoolAnswer(String from) {
            this.from = from;
        }

        @Override
        protected void hookOnNext(HeldPermits held) {
            granted(from, held);
        }

        @Override
        protected void hookOnError(Throwable error) {
            refused(error);
        }
    }

    /**
     * One pool has granted its permits. Takes the permits of the other pools if they are free; otherwise releases what was
     * taken and waits in the queue of the pool that lacked permits.
     */
    private void granted(String from, HeldPermits held) {
        Map<String, HeldPermits> taken = new TreeMap<>();
        taken.put(from, held);
        for (String each : permits.keySet()) {
            if (!taken.containsKey(each)) {
                PermitPool other = ledger.pools.find(each);
                HeldPermits more = other == null ? null : other.tryAcquire(requestTo(each));
                if (more == null) {
                    taken.values().forEach(HeldPermits::release);
                    moveTo(each);
                    return;
                }
                taken.put(each, more);
            }
        }
        pay(taken);
    }

    private void pay(Map<String, HeldPermits> taken) {
        ledger.run(step -> {
            if (!isWanted()) {
                taken.values().forEach(held -> step.after(held::release));
                return;
            }
            Mono<Void> due = payment;
            unpaid = taken;
            isBeingPaid = true;
            step.after(() -> due.subscribe(nothing -> {}, this::refused, this::hold));
        });
    }

    private void moveTo(String lacking) {
        ledger.run(step -> {
            if (isWanted()) {
                ledger.queues.remove(this);
                pool = lacking;
                ledger.queues.add(this);
                step.after(() -> request(lacking));
            }
        });
    }

    /** What was granted is paid. If the lease has left meanwhile, its permits went back then. */
    private void hold() {
        ledger.run(step -> {
            Map<String, HeldPermits> taken = unpaid;
            if (taken == null) {
                return;
            }
            unpaid = null;
            payment = Mono.empty();
            lease.waiting = null;
            ledger.queues.remove(this);
            if (ttl != null && lease.grants.isEmpty()) {
                lease.endsAt = step.now + lease.maxHoldNanos;
            }
            long token = ledger.tokens.next();
            taken.forEach((from, held) ->
                    ledger.addGrant(lease, new OpenLease.Grant(from, held, token, step.now - requestedAt, step.now)));
            long lasts = ledger.boundedNanos(lease, ttl == null ? Duration.ofNanos(lease.expiresAt - step.now) : ttl);
            ledger.expireAt(lease, ledger.bounded(lease, Math.max(step.now + lasts, lease.extendedUntil)));
            LeaseStatus status = ledger.status(lease, step.now);
            for (String from : taken.keySet()) {
                LeaseStatus.Held held = Objects.requireNonNull(status.held(from));
                ledger.publish(step, listener -> listener.granted(status, held));
            }
            step.after(() -> answer.complete(true));
        });
    }

    /** A pool or the payment has refused, or cannot be reached. The lease stays open for a while: its holder may ask again. */
    private void refused(Throwable why) {
        ledger.run(step -> {
            if (isWanted()) {
                LeaseStatus status = ledger.status(lease, step.now);
                leave(step);
                if (why instanceof PermitRefusedException refused) {
                    LeaseStatus.Waiting asked = Objects.requireNonNull(status.waiting());
                    ledger.publish(step, listener -> listener.refused(status, asked, refused.reason()));
                }
            }
            step.after(() -> answer.fail(why));
        });
    }
}
