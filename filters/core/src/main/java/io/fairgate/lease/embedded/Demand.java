package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseRequest;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * What a lease waits for, and the answer for all who ask how that went.
 *
 * <p>Of several pools it waits in the queue of one, holding nothing; once that one grants, it takes what it wants of the
 * others if they have it now, and otherwise gives all back and waits in the queue of the one that had not. So nobody waits
 * while it holds, and no order of pools can lock two holders against each other.
 */
final class Demand {

    /**
     * Who repeats its call mostly has lost the call before; and all who wait are told on the thread that gave the permits back,
     * so that a crowd of them would hold up a pool.
     */
    private static final int MOST_CALLERS = 4;

    private final Leases leases;
    private final OpenLease lease;
    private final Map<String, Integer> wants;
    /** From the grant on; null when the grant does not change when the lease expires. */
    private final @Nullable Duration ttl;

    private final long askedAt;
    /** Who asks for the answer, in the order in which they came; the lock of this list is held for a few steps. */
    private final Deque<Sinks.One<Boolean>> callers = new ArrayDeque<>(1);

    private @Nullable Boolean told;
    private @Nullable Throwable failed;

    /** In whose queue it is. Guarded by the lock of {@link OpenLeases}, as all that changes. */
    private String pool;

    /** By which {@link LeaseQueue} knows its place; guarded likewise. */
    int number;

    private final Sinks.Empty<Void> asked = Sinks.empty();

    /** The subscription to that pool. */
    private final Disposable.Swap asking = Disposables.swap();

    Demand(Leases leases, OpenLease lease, LeaseRequest request, long now) {
        this.leases = leases;
        this.lease = lease;
        this.wants = request.permits();
        this.pool = wants.keySet().iterator().next();
        this.ttl = request.ttl();
        this.askedAt = now;
    }

    OpenLease lease() {
        return lease;
    }

    Map<String, Integer> wants() {
        return wants;
    }

    String pool() {
        return pool;
    }

    /** How many it asks of the pool in whose queue it is. */
    int permits() {
        return wants.getOrDefault(pool, 0);
    }

    @Nullable
    Duration ttl() {
        return ttl;
    }

    long askedAt() {
        return askedAt;
    }

    PermitRequest request(String from) {
        return LeaseRequest.ask(lease.tenant, wants.getOrDefault(from, 1));
    }

    /** Completes when the first pool has been asked. */
    Mono<Void> asked() {
        return asked.asMono();
    }

    void tellAsked() {
        asked.tryEmitEmpty();
    }

    /** Into the queue of another pool. */
    void moveTo(String next) {
        pool = next;
    }

    /** What hears the answer of that pool. */
    CoreSubscriber<HeldPermits> attempt(String from) {
        Attempt attempt = new Attempt(from);
        asking.update(attempt);
        return attempt;
    }

    /** Leaves the queue, and every one that it would still have come to. */
    void leave() {
        asking.dispose();
    }

    /**
     * True when the permits are held, false when they are not wanted any more, or not yet; errors when they are not to be had.
     */
    Mono<Boolean> outcome(Duration patience, Scheduler time) {
        Sinks.One<Boolean> caller = Sinks.one();
        Sinks.One<Boolean> tooMany = null;
        synchronized (callers) {
            if (failed != null) {
                return Mono.error(failed);
            }
            if (told != null || patience.isZero()) {
                return Mono.just(Boolean.TRUE.equals(told));
            }
            callers.addLast(caller);
            if (callers.size() > MOST_CALLERS) {
                tooMany = callers.removeFirst();
            }
        }
        if (tooMany != null) {
            tooMany.tryEmitValue(false);
        }
        return caller.asMono().timeout(patience, Mono.just(false), time).doFinally(end -> {
            synchronized (callers) {
                callers.remove(caller);
            }
        });
    }

    void tell(boolean isHeld) {
        synchronized (callers) {
            if (told == null && failed == null) {
                told = isHeld;
            }
        }
        callersLeft().forEach(caller -> caller.tryEmitValue(isHeld));
    }

    void tellFailed(Throwable why) {
        synchronized (callers) {
            if (told == null && failed == null) {
                failed = why;
            }
        }
        callersLeft().forEach(caller -> caller.tryEmitError(why));
    }

    private List<Sinks.One<Boolean>> callersLeft() {
        synchronized (callers) {
            List<Sinks.One<Boolean>> left = List.copyOf(callers);
            callers.clear();
            return left;
        }
    }

    private final class Attempt extends BaseSubscriber<HeldPermits> {
        private final String from;

        Attempt(String from) {
            this.from = from;
        }

        @Override
        protected void hookOnNext(HeldPermits held) {
            leases.granted(Demand.this, from, held);
        }

        @Override
        protected void hookOnError(Throwable error) {
            RefusalReason reason =
                    error instanceof PermitRefusedException refused ? refused.reason() : RefusalReason.DRAINING;
            leases.refused(Demand.this, reason, error);
        }
    }
}
