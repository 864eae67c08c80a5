package io.fairgate.lease;

import io.fairgate.lease.LeaseListener.End;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Permits under an id and an expiry, for holders that are not a request: batch jobs, workers, crawlers. They come from the
 * same pools as those of requests, by the same rules, and come back by themselves when their holder falls silent.
 *
 * <p>A lease is opened with nothing in it, and takes permits of one pool after the other; most take those of one. It waits
 * for one pool at a time, and keeps its place in that queue for as long as it lasts, whether somebody waits for the answer
 * or not. It ends when it is released or expires, and gives back all that it holds and its place at that moment: there is
 * no sweep, and every call sees each lease that is due as gone.
 *
 * <p><b>Threads.</b> From any thread. One lock guards what is noted here; signals, listeners and pools are called outside
 * of it. No call blocks but for that lock, which is held for a few steps.
 */
public final class Leases {

    /** A time that does not come. */
    private static final long NEVER = Long.MAX_VALUE;

    private final Function<String, @Nullable PermitPool> pools;
    private final Scheduler time;
    private final FencingTokens tokens;
    private final LeaseListener listener;

    private final Object lock = new Object();

    // Guarded by the lock.
    private final Map<LeaseId, OpenLease> leases = new HashMap<>();
    private final Expiries expiries = new Expiries();
    private long ringsAt = NEVER;
    private Disposable timer = Disposables.disposed();

    /**
     * @param pools finds a pool by its name; null for one that there is not
     * @param time the clock and the timer; must be monotonic
     */
    public Leases(
            Function<String, @Nullable PermitPool> pools,
            Scheduler time,
            FencingTokens tokens,
            LeaseListener listener) {
        this.pools = pools;
        this.time = time;
        this.tokens = tokens;
        this.listener = listener;
    }

    /** What is to be done when the lock has been left. */
    private static final class Aftermath {
        private final List<Runnable> steps = new ArrayList<>(2);

        void then(Runnable step) {
            steps.add(step);
        }

        /** What throws is a bug of a listener, and must not cost the others their permits. */
        void run() {
            for (Runnable step : steps) {
                try {
                    step.run();
                } catch (RuntimeException | Error e) {
                    Operators.onErrorDropped(e, Context.empty());
                }
            }
        }
    }

    private interface Step<T> {
        @Nullable
        T take(long now, Aftermath after);
    }

    /** One step, which sees no lease that is due. What it throws is thrown when all else has been seen to. */
    private <T> @Nullable T locked(Step<T> step) {
        Aftermath after = new Aftermath();
        try {
            synchronized (lock) {
                long now = time.now(TimeUnit.NANOSECONDS);
                try {
                    expireDue(now, after);
                    return step.take(now, after);
                } finally {
                    expireDue(now, after);
                    setTimer(now);
                }
            }
        } finally {
            after.run();
        }
    }

    private boolean did(Step<Boolean> step) {
        return Boolean.TRUE.equals(locked(step));
    }

    // ---- what holders do ----

    /**
     * Opens a lease that holds nothing.
     *
     * @param holder what its holder calls itself, for those who look at it
     * @return false, and nothing has changed, when there is one with this id
     */
    public boolean open(LeaseId id, TenantId tenant, String holder, LeaseTerm term) {
        return did((now, after) -> {
            if (leases.containsKey(id)) {
                return false;
            }
            OpenLease lease = new OpenLease(id, tenant, holder, term, now);
            leases.put(id, lease);
            expiries.set(lease);
            return true;
        });
    }

    /**
     * Asks for permits of a pool, or goes on to wait for them: whoever asks again for the same keeps the place that the
     * first one got. Lazy; each subscription asks.
     *
     * @param check looks at the lease before anything is asked, and throws what is to be told instead; the lock is held
     *     meanwhile
     * @return true when the lease holds the permits; false when it waits for them still, after the patience of the caller,
     *     or has given its place back.
     *     Errors with {@link LeaseGoneException} when it is not there or ends meanwhile, with
     *     {@link io.fairgate.permit.PermitRefusedException} when the pool refuses, and with what {@code check} throws.
     *     Cancelling it leaves the lease where it is.
     */
    public Mono<Boolean> take(LeaseId id, LeaseRequest request, Consumer<LeaseStatus> check) {
        return Mono.defer(() -> {
            Demand demand = locked((now, after) -> demand(require(id), request, check, now, after));
            if (demand == null) {
                return Mono.just(true);
            }
            return request.patience().isZero()
                    ? Mono.firstWithSignal(demand.outcome(), Mono.just(false))
                    : demand.outcome().timeout(request.patience(), Mono.just(false), time);
        });
    }

    /** Null when the lease holds what is asked. */
    private @Nullable Demand demand(
            OpenLease lease, LeaseRequest request, Consumer<LeaseStatus> check, long now, Aftermath after) {
        check.accept(lease.status(now));
        if (lease.of(request.pool()) != null) {
            return null;
        }
        Demand waits = lease.waits;
        if (waits == null) {
            PermitPool pool = requirePool(request.pool());
            Demand demand = new Demand(this, lease, request);
            lease.waits = demand;
            waits = demand;
            after.then(() -> ask(pool, request, demand));
        } else if (!waits.pool().equals(request.pool())) {
            throw new IllegalStateException("lease %s waits for pool %s (expected: to wait for one pool at a time)"
                    .formatted(lease.id, waits.pool()));
        }
        if (request.ttl() != null) {
            long asked = now + request.patience().toNanos() + request.ttl().toNanos();
            expireAt(lease, Math.max(lease.expiresAt, Math.min(asked, lease.endsAt)));
        }
        return waits;
    }

    private void ask(PermitPool pool, LeaseRequest request, Demand demand) {
        TenantId tenant = demand.lease().tenant;
        // The handle of who need not wait is smaller, and there may be many for long.
        HeldPermits atOnce = pool.tryAcquire(request.by(tenant));
        if (atOnce == null) {
            pool.acquire(request.by(tenant)).subscribe(demand);
        } else {
            granted(demand, atOnce);
        }
    }

    /**
     * Makes a lease last for that long from now on, but not beyond its maximum hold.
     *
     * @return how long it lasts; null, and nothing has changed, when it is not there
     */
    public @Nullable Duration extend(LeaseId id, Duration ttl) {
        return locked((now, after) -> {
            OpenLease lease = leases.get(id);
            if (lease == null) {
                return null;
            }
            expireAt(lease, Math.min(now + ttl.toNanos(), lease.endsAt));
            Duration lasts = Duration.ofNanos(lease.expiresAt - now);
            LeaseStatus status = lease.status(now);
            after.then(() -> listener.extended(status, lasts));
            return lasts;
        });
    }

    /**
     * Ends a lease: what it holds comes back, and whoever waits for it is told.
     *
     * @return false when it is not there
     */
    public boolean release(LeaseId id) {
        return did((now, after) -> {
            OpenLease lease = leases.get(id);
            if (lease == null) {
                return false;
            }
            end(lease, End.RELEASED, now, after);
            return true;
        });
    }

    /**
     * Gives back what a lease holds of one pool, or its place in the queue there; the lease goes on.
     *
     * @return false when it has nothing to do with that pool
     * @throws LeaseGoneException when it is not there
     */
    public boolean giveBack(LeaseId id, String pool) {
        return did((now, after) -> {
            OpenLease lease = require(id);
            OpenLease.Grant grant = lease.of(pool);
            Demand waits = lease.waits;
            if (grant != null) {
                LeaseStatus status = lease.status(now);
                lease.grants.remove(grant);
                after.then(grant.permits()::release);
                LeaseStatus.Held held = Objects.requireNonNull(status.held(pool));
                after.then(() -> listener.gaveBack(status, held));
                return true;
            } else if (waits != null && waits.pool().equals(pool)) {
                lease.waits = null;
                after.then(waits::dispose);
                after.then(() -> waits.tell(false));
                return true;
            }
            return false;
        });
    }

    /** How a lease stands; null when it is not there. */
    public @Nullable LeaseStatus status(LeaseId id) {
        return locked((now, after) -> {
            OpenLease lease = leases.get(id);
            return lease == null ? null : lease.status(now);
        });
    }

    /** All leases of a tenant, in no order. Takes a step for each lease of all tenants. */
    public List<LeaseStatus> of(TenantId tenant) {
        List<LeaseStatus> found = locked((now, after) -> leases.values().stream()
                .filter(lease -> lease.tenant.equals(tenant))
                .map(lease -> lease.status(now))
                .toList());
        return found == null ? List.of() : found;
    }

    /** How many there are. */
    public int size() {
        Integer size = locked((now, after) -> leases.size());
        return size == null ? 0 : size;
    }

    /**
     * Opens a lease that holds permits already, though the pools have not given them out: after a restart, when holders
     * come back ({@link PermitPool#restore}).
     *
     * @param held permits by pool
     * @return false, and nothing has changed, when there is one with this id. Errors with
     *     {@link io.fairgate.permit.PermitRefusedException} when a pool cannot count that many, and then holds none
     */
    public Mono<Boolean> restore(
            LeaseId id, TenantId tenant, String holder, LeaseTerm term, Map<String, Integer> held) {
        return Mono.defer(() -> {
            held.keySet().forEach(this::requirePool);
            if (!open(id, tenant, holder, term)) {
                return Mono.just(false);
            }
            return Flux.fromIterable(held.entrySet())
                    .concatMap(each -> requirePool(each.getKey())
                            .restore(new LeaseRequest(each.getKey(), each.getValue(), Duration.ZERO, null).by(tenant))
                            .doOnNext(permits -> restored(id, each.getKey(), permits)))
                    .then(Mono.just(true))
                    .doOnError(e -> release(id))
                    .doOnCancel(() -> release(id));
        });
    }

    private void restored(LeaseId id, String pool, HeldPermits permits) {
        var unused = did((now, after) -> {
            OpenLease lease = leases.get(id);
            if (lease == null) {
                after.then(permits::release);
            } else {
                hold(lease, pool, permits, now, after);
            }
            return true;
        });
    }

    private OpenLease require(LeaseId id) {
        OpenLease lease = leases.get(id);
        if (lease == null) {
            throw new LeaseGoneException(id);
        }
        return lease;
    }

    private PermitPool requirePool(String name) {
        PermitPool pool = pools.apply(name);
        if (pool == null) {
            throw new IllegalArgumentException("pool: %s (expected: one that there is)".formatted(name));
        }
        return pool;
    }

    // ---- what pools answer ----

    void granted(Demand demand, HeldPermits permits) {
        var unused = did((now, after) -> {
            OpenLease lease = demand.lease();
            if (lease.isGone || lease.waits != demand) {
                after.then(permits::release);
                return false;
            }
            lease.waits = null;
            if (demand.ttlNanos() >= 0) {
                if (lease.grants.isEmpty()) {
                    lease.endsAt = now + lease.maxHoldNanos;
                }
                expireAt(lease, Math.min(now + demand.ttlNanos(), lease.endsAt));
            }
            hold(lease, demand.pool(), permits, now, after);
            after.then(() -> demand.tell(true));
            return true;
        });
    }

    private void hold(OpenLease lease, String pool, HeldPermits permits, long now, Aftermath after) {
        lease.grants.add(new OpenLease.Grant(pool, permits, tokens.next(), now));
        LeaseStatus status = lease.status(now);
        after.then(
                () -> listener.granted(status, status.held().get(status.held().size() - 1)));
    }

    /** The lease stays open: its holder may ask again, and it expires when it is not asked for. */
    void refused(Demand demand, RefusalReason reason, Throwable why) {
        var unused = did((now, after) -> {
            OpenLease lease = demand.lease();
            if (!lease.isGone && lease.waits == demand) {
                LeaseStatus status = lease.status(now);
                lease.waits = null;
                LeaseStatus.Waiting asked = new LeaseStatus.Waiting(demand.pool(), demand.permits());
                after.then(() -> listener.refused(status, asked, reason));
            }
            after.then(() -> demand.tellFailed(why));
            return true;
        });
    }

    // ---- the end ----

    private void end(OpenLease lease, End how, long now, Aftermath after) {
        LeaseStatus status = lease.status(now);
        leases.remove(lease.id);
        expiries.remove(lease);
        lease.isGone = true;
        for (OpenLease.Grant grant : lease.grants) {
            after.then(grant.permits()::release);
        }
        Demand waits = lease.waits;
        if (waits != null) {
            lease.waits = null;
            after.then(waits::dispose);
            after.then(() -> waits.tellFailed(new LeaseGoneException(lease.id)));
        }
        after.then(() -> listener.ended(status, how));
    }

    private void expireAt(OpenLease lease, long when) {
        lease.expiresAt = when;
        expiries.set(lease);
    }

    private void expireDue(long now, Aftermath after) {
        for (OpenLease next = expiries.first(); next != null && next.expiresAt <= now; next = expiries.first()) {
            end(next, End.EXPIRED, now, after);
        }
    }

    /** Rings at the first expiry, or before: to set it anew for each extension would cost more than to ring for nothing. */
    private void setTimer(long now) {
        OpenLease first = expiries.first();
        if (first == null) {
            timer.dispose();
            ringsAt = NEVER;
        } else if (first.expiresAt < ringsAt) {
            timer.dispose();
            try {
                ringsAt = first.expiresAt;
                timer = time.schedule(this::ring, Math.max(1, first.expiresAt - now), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                ringsAt = NEVER; // Nothing expires by itself any more; every call still sees what is due as gone.
            }
        }
    }

    private void ring() {
        var unused = did((now, after) -> {
            ringsAt = NEVER;
            return true;
        });
    }
}
