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
 * The permits that a lease waits for, and the answer for the calls that wait with it.
 *
 * <p>A demand for permits of several pools waits in the queue of one pool, and holds nothing. Once that pool grants, it takes
 * the permits of the others if they are free; otherwise it releases all and waits in the queue of the pool that lacked
 * permits. So no demand waits while it holds permits, and two demands cannot deadlock in any order of pools.
 */
final class Demand {

    /**
     * The most calls that wait for one demand. A client that repeats a call has mostly lost the call before; and all waiting
     * calls are answered on the thread that released the permits, so that many of them would delay a pool.
     */
    private static final int MOST_CALLERS = 4;

    private final Leases leases;
    private final OpenLease lease;
    private final Map<String, Integer> wants;
    /** The time to expiry from the grant on; null when the grant does not change the expiry. */
    private final @Nullable Duration ttl;

    private final long askedAt;
    /** The calls that wait for the answer, in their order; the lock of this list is held for a few steps. */
    private final Deque<Sinks.One<Boolean>> callers = new ArrayDeque<>(1);

    private @Nullable Boolean told;
    private @Nullable Throwable failed;

    /** The pool in whose queue the demand waits. Guarded by the lock of {@link OpenLeases}. */
    private String pool;

    /** Its number in its {@link LeaseQueue}. Guarded by the lock of {@link OpenLeases}. */
    int number;

    private final Sinks.Empty<Void> asked = Sinks.empty();

    /** The subscription to the pool in whose queue the demand waits. */
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

    /** The number of permits that it wants of the pool in whose queue it waits. */
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

    /** Completes when the permits of the first pool have been requested. */
    Mono<Void> asked() {
        return asked.asMono();
    }

    void tellAsked() {
        asked.tryEmitEmpty();
    }

    /** Moves to the queue of another pool. */
    void moveTo(String next) {
        pool = next;
    }

    /** The subscriber for the answer of a pool; replaces that for an earlier pool. */
    CoreSubscriber<HeldPermits> attempt(String from) {
        Attempt attempt = new Attempt(from);
        asking.update(attempt);
        return attempt;
    }

    /** Leaves the queue of the pool, and enters no other queue any more. */
    void leave() {
        asking.dispose();
    }

    /**
     * Emits true when the lease holds the permits, and false when it still waits for them after {@code patience} or does not
     * want them any more. Errors when a pool refused them or the lease has ended.
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
