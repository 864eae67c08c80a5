package io.fairgate.lease.embedded;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseListener.End;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.embedded.OpenLeases.Aftermath;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Permits under an id and an expiry, for holders that are not requests: batch jobs, workers, crawlers. They come from the
 * same pools as the permits of requests, by the same rules, and are released when their holder falls silent.
 *
 * <p>A lease is opened without permits, and then takes permits: most leases those of one pool, once; some those of several
 * pools, at once or one after the other. A lease waits for one set of permits at a time, and keeps its place in the queue
 * for as long as it lasts, whether a caller waits for the answer or not. It ends when it is released or expires, and at that
 * moment gives back its permits and its place in the queue: there is no sweep, and every call sees an expired lease as gone.
 *
 * <p><b>Threads.</b> Safe for any thread. One lock guards the state; signals, listeners and pools are called outside of the
 * lock. A call can block only on that lock, which is held for a few steps.
 */
public final class Leases {

    private final LeasedPools pools;
    private final FencingTokens tokens;
    private final LeaseListener listener;
    private final Scheduler time;
    private final OpenLeases open;
    /** Leases that hold permits. Guarded by the lock of {@link OpenLeases}. */
    private int holding;

    /**
     * @param time the clock and the timer; must be monotonic
     */
    public Leases(LeasedPools pools, Scheduler time, FencingTokens tokens, LeaseListener listener) {
        this.pools = pools;
        this.tokens = tokens;
        this.listener = listener;
        this.time = time;
        this.open = new OpenLeases(time, (lease, now, after) -> end(lease, End.EXPIRED, now, after));
    }

    // ---- calls of holders ----

    /**
     * Opens a lease without permits.
     *
     * @param holder the name that the holder gives itself, for people to read
     * @return false, and nothing has changed, when a lease with this id exists
     */
    public boolean open(LeaseId id, TenantId tenant, String holder, LeaseTerm term) {
        return opened(id, tenant, holder, term) != null;
    }

    private @Nullable OpenLease opened(LeaseId id, TenantId tenant, String holder, LeaseTerm term) {
        return open.locked((now, after) -> {
            if (open.find(id) != null) {
                return null;
            }
            OpenLease lease = new OpenLease(id, tenant, holder, term, now);
            open.add(lease);
            return lease;
        });
    }

    /**
     * Requests permits, or continues to wait for them: a repeated call for the same permits keeps the place in the queue of the
     * first call. Pools of which the lease holds permits already are left out. Lazy; each subscription is a call.
     *
     * @param check examines the lease before anything is requested, under the lock; an exception of it becomes the error
     * @return true when the lease holds the permits; false when it still waits, because the caller's patience is over or
     *     several later calls wait for the same answer, or when the lease has given its place back.
     *     Errors with {@link LeaseGoneException} when the lease does not exist or ends meanwhile, with
     *     {@link PermitRefusedException} when a pool refuses, with {@link IllegalArgumentException} when a pool does not
     *     exist, with {@link IllegalStateException} when the lease waits for other permits, and with what {@code check}
     *     throws. Cancelling it changes nothing: the lease keeps waiting.
     */
    public Mono<Boolean> take(LeaseId id, LeaseRequest request, Consumer<LeaseStatus> check) {
        return Mono.defer(() -> {
            Demand demand = open.locked((now, after) -> demand(open.require(id), request, check, now, after));
            if (demand == null) {
                return Mono.just(true);
            }
            return request.patience().isZero()
                    ? settled(demand).then(Mono.defer(() -> demand.outcome(Duration.ZERO, time)))
                    : demand.outcome(request.patience(), time);
        });
    }

    /**
     * Completes when the request has reached the pool and the pool has processed all earlier calls. Another thread may be about
     * to request the permits, or may be at work in the pool, which grants free permits a moment later: in both cases the answer
     * must not be that the lease waits.
     */
    private Mono<?> settled(Demand demand) {
        return demand.asked().then(Mono.defer(() -> {
            PermitPool pool = pools.find(demand.pool());
            return pool == null ? Mono.empty() : pool.inFlight();
        }));
    }

    /** The demand for the permits that the lease lacks; null when it holds all of them. */
    private @Nullable Demand demand(
            OpenLease lease, LeaseRequest request, Consumer<LeaseStatus> check, long now, Aftermath after) {
        check.accept(status(lease, now));
        Map<String, Integer> lacking = new TreeMap<>(request.permits());
        lease.grants.forEach(grant -> lacking.remove(grant.pool()));
        if (lacking.isEmpty()) {
            return null;
        }
        Demand waits = lease.waits;
        if (waits == null) {
            lacking.keySet().forEach(this::requirePool);
            waits = wait(lease, new LeaseRequest(lacking, request.patience(), request.ttl()), now, after);
        } else if (!waits.wants().equals(lacking)) {
            throw new IllegalStateException(
                    "lease %s waits for %s, and was asked for %s (expected: to wait for one thing)"
                            .formatted(lease.id, waits.wants(), lacking));
        }
        Duration ttl = request.ttl();
        if (ttl != null) {
            long asked = now + request.patience().toNanos() + ttlNanos(lease, ttl);
            open.expireAt(lease, Math.max(lease.expiresAt, Math.min(asked, lastEnd(lease))));
        }
        return waits;
    }

    private Demand wait(OpenLease lease, LeaseRequest request, long now, Aftermath after) {
        Demand demand = new Demand(this, lease, request, now);
        lease.waits = demand;
        open.queues().add(demand);
        after.then(() -> {
            try {
                ask(demand, demand.pool());
            } finally {
                demand.tellAsked();
            }
        });
        return demand;
    }

    /**
     * Makes a lease last for {@code ttl} from now on, within its maximum hold and the bounds of its pools.
     *
     * @return how long it lasts; null, and nothing has changed, when the lease does not exist
     */
    public @Nullable Duration extend(LeaseId id, Duration ttl) {
        return open.locked((now, after) -> {
            OpenLease lease = open.find(id);
            if (lease == null) {
                return null;
            }
            open.expireAt(lease, Math.min(now + ttlNanos(lease, ttl), lastEnd(lease)));
            lease.extendedUntil = lease.expiresAt;
            Duration lasts = Duration.ofNanos(lease.expiresAt - now);
            LeaseStatus status = status(lease, now);
            after.then(() -> listener.extended(status, lasts));
            return lasts;
        });
    }

    /**
     * Ends a lease: its permits are released, and calls that wait for it error with {@link LeaseGoneException}.
     *
     * @return false when the lease does not exist
     */
    public boolean release(LeaseId id) {
        return open.did((now, after) -> {
            OpenLease lease = open.find(id);
            if (lease == null) {
                return false;
            }
            end(lease, End.RELEASED, now, after);
            return true;
        });
    }

    /**
     * Gives back the permits that a lease holds of one pool, or its place in the queue there; the lease goes on. If it waited
     * for permits of other pools as well, it requests those anew.
     *
     * @return false when the lease neither holds permits of that pool nor waits for them
     * @throws LeaseGoneException when the lease does not exist
     */
    public boolean giveBack(LeaseId id, String pool) {
        return open.did((now, after) -> {
            OpenLease lease = open.require(id);
            OpenLease.Grant grant = lease.of(pool);
            Demand waits = lease.waits;
            if (grant != null) {
                LeaseStatus status = status(lease, now);
                LeaseStatus.Held held = Objects.requireNonNull(status.held(pool));
                after.then(() -> listener.gaveBack(status, held));
                lose(lease, grant, after);
                return true;
            } else if (waits != null && waits.wants().containsKey(pool)) {
                wantNoMore(waits, after);
                after.then(() -> waits.tell(false));
                Map<String, Integer> others = new TreeMap<>(waits.wants());
                others.remove(pool);
                if (!others.isEmpty()) {
                    wait(lease, new LeaseRequest(others, Duration.ZERO, waits.ttl()), now, after);
                }
                return true;
            }
            return false;
        });
    }

    // ---- queries ----

    /** The status of a lease; null when it does not exist. */
    public @Nullable LeaseStatus status(LeaseId id) {
        return open.locked((now, after) -> {
            OpenLease lease = open.find(id);
            return lease == null ? null : status(lease, now);
        });
    }

    private LeaseStatus status(OpenLease lease, long now) {
        Demand waits = lease.waits;
        LeaseStatus.Waiting waiting = waits == null
                ? null
                : new LeaseStatus.Waiting(
                        waits.wants(), waits.pool(), open.queues().place(waits), now - waits.askedAt());
        return lease.status(waiting, now);
    }

    /** The ids of all leases, in no order. Takes time in proportion to their number. */
    public List<LeaseId> ids() {
        return Objects.requireNonNull(open.locked(
                (now, after) -> open.all().stream().map(lease -> lease.id).toList()));
    }

    /** The ids of the leases of one tenant, in no order. Takes time in proportion to their number. */
    public List<LeaseId> ids(TenantId tenant) {
        return Objects.requireNonNull(open.locked((now, after) -> open.ids(tenant)));
    }

    /** The number of leases of one tenant. */
    public int size(TenantId tenant) {
        return Objects.requireNonNull(open.locked((now, after) -> open.count(tenant)));
    }

    /** The number of all leases. */
    public int size() {
        return Objects.requireNonNull(open.locked((now, after) -> open.all().size()));
    }

    /** The numbers of open, holding and waiting leases. */
    public LeaseCount count() {
        return Objects.requireNonNull(open.locked((now, after) ->
                new LeaseCount(open.all().size(), holding, open.queues().size())));
    }

    /** The demand of leases that wait in a pool. Takes time in proportion to the queues of all pools and tenants. */
    public PoolDemand demand(String pool) {
        return Objects.requireNonNull(open.locked((now, after) -> open.queues().demand(pool, now)));
    }

    // ---- after a restart ----

    /**
     * Opens a lease that holds permits already, although the pools of this process have not granted them: after a restart, for
     * a holder that has proof of what it held ({@link PermitPool#restore}). Its bounds count from the first grant, and its new
     * fencing token is larger than its old one.
     *
     * @return false, and nothing has changed, when a lease with this id exists. Errors with {@link PermitRefusedException}
     *     when a pool refuses, which is reported to the listener; then there is no lease. Errors with
     *     {@link IllegalArgumentException} when a pool does not exist
     */
    public Mono<Boolean> restore(LeaseId id, TenantId tenant, String holder, LeaseTerm term, HeldBefore before) {
        return Mono.defer(() -> {
            Map<String, Integer> permits = before.permits();
            permits.keySet().forEach(this::requirePool);
            Duration ttl = permits.keySet().stream()
                    .map(pool -> pools.bounds(pool).maxTtl())
                    .reduce(term.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
            // All steps act on this object, not on the id: it may end meanwhile, and a later lease may have the id.
            OpenLease lease = opened(id, tenant, holder, new LeaseTerm(ttl, term.maxHold()));
            if (lease == null) {
                return Mono.just(false);
            }
            tokens.goOnAbove(before.token());
            long token = tokens.next();
            return Flux.fromIterable(permits.entrySet())
                    .concatMap(each -> requirePool(each.getKey())
                            .restore(LeaseRequest.ask(tenant, each.getValue()))
                            .doOnNext(held -> restored(lease, each.getKey(), held, token, before.heldFor()))
                            .doOnError(
                                    PermitRefusedException.class,
                                    e -> tellNotRestored(lease, each.getKey(), permits, e)))
                    .then(Mono.fromCallable(() -> tellRestored(lease)))
                    .doOnError(e -> undoRestore(lease))
                    .doOnCancel(() -> undoRestore(lease));
        });
    }

    /** Ends a lease whose restore has failed or was cancelled. A cancellation after the answer changes nothing. */
    private void undoRestore(OpenLease lease) {
        var unused = open.did((now, after) -> {
            if (!lease.isGone && !lease.isRestored) {
                end(lease, End.RELEASED, now, after);
            }
            return true;
        });
    }

    private void restored(OpenLease lease, String pool, HeldPermits permits, long token, Duration heldFor) {
        var unused = open.did((now, after) -> {
            if (lease.isGone) {
                after.then(permits::release);
            } else {
                keep(lease, new OpenLease.Grant(pool, permits, token, 0, now - heldFor.toNanos()));
                open.expireAt(lease, Math.min(lease.expiresAt, lastEnd(lease)));
            }
            return true;
        });
    }

    private void tellNotRestored(OpenLease lease, String pool, Map<String, Integer> held, PermitRefusedException why) {
        var unused = open.did((now, after) -> {
            if (!lease.isGone) {
                LeaseStatus status = status(lease, now);
                after.then(() -> listener.refused(status, new LeaseStatus.Waiting(held, pool, 1, 0), why.reason()));
            }
            return true;
        });
    }

    private boolean tellRestored(OpenLease lease) {
        return open.did((now, after) -> {
            if (!lease.isGone) {
                lease.isRestored = true;
                LeaseStatus status = status(lease, now);
                after.then(() -> listener.restored(status));
            }
            return true;
        });
    }

    private PermitPool requirePool(String name) {
        PermitPool pool = pools.find(name);
        if (pool == null) {
            throw new IllegalArgumentException("pool: %s (expected: one that there is)".formatted(name));
        }
        return pool;
    }

    // ---- requests to pools, and their answers ----

    /** Requests the permits of one pool, outside the lock. The pool may have been removed since the lease asked for it. */
    private void ask(Demand demand, String name) {
        PermitPool pool = pools.find(name);
        if (pool == null) {
            refused(
                    demand,
                    RefusalReason.DRAINING,
                    new IllegalArgumentException("pool: %s (expected: one that there is)".formatted(name)));
            return;
        }
        // The handle of a request that need not wait is smaller, and many may be held for long.
        HeldPermits atOnce = pool.tryAcquire(demand.request(name));
        if (atOnce == null) {
            pool.acquire(demand.request(name)).subscribe(demand.attempt(name));
        } else {
            granted(demand, name, atOnce);
        }
    }

    /**
     * One pool has granted its permits. Takes the permits of the other pools if they are free; otherwise releases what was
     * taken and waits in the queue of the pool that lacked permits.
     */
    void granted(Demand demand, String from, HeldPermits permits) {
        Map<String, HeldPermits> taken = new TreeMap<>();
        taken.put(from, permits);
        for (String each : demand.wants().keySet()) {
            if (!taken.containsKey(each)) {
                PermitPool pool = pools.find(each);
                HeldPermits more = pool == null ? null : pool.tryAcquire(demand.request(each));
                if (more == null) {
                    taken.values().forEach(HeldPermits::release);
                    moveTo(demand, each);
                    return;
                }
                taken.put(each, more);
            }
        }
        hold(demand, taken);
    }

    private void moveTo(Demand demand, String lacking) {
        var unused = open.did((now, after) -> {
            if (isWanted(demand)) {
                open.queues().remove(demand);
                demand.moveTo(lacking);
                open.queues().add(demand);
                after.then(() -> ask(demand, lacking));
            }
            return true;
        });
    }

    private void hold(Demand demand, Map<String, HeldPermits> taken) {
        var unused = open.did((now, after) -> {
            OpenLease lease = demand.lease();
            if (!isWanted(demand)) {
                taken.values().forEach(permits -> after.then(permits::release));
                return false;
            }
            lease.waits = null;
            open.queues().remove(demand);
            Duration ttl = demand.ttl();
            if (ttl != null && lease.grants.isEmpty()) {
                lease.endsAt = now + lease.maxHoldNanos;
            }
            long token = tokens.next();
            long waitedNanos = now - demand.askedAt();
            taken.forEach((pool, permits) -> keep(lease, new OpenLease.Grant(pool, permits, token, waitedNanos, now)));
            Duration lasts = ttl == null ? Duration.ofNanos(lease.expiresAt - now) : ttl;
            long until = Math.max(now + ttlNanos(lease, lasts), lease.extendedUntil);
            open.expireAt(lease, Math.min(until, lastEnd(lease)));
            LeaseStatus status = status(lease, now);
            for (String pool : taken.keySet()) {
                after.then(() -> listener.granted(status, Objects.requireNonNull(status.held(pool))));
            }
            after.then(() -> demand.tell(true));
            return true;
        });
    }

    /** The time to expiry, cut to the bounds of all pools of which the lease holds or wants permits. */
    private long ttlNanos(OpenLease lease, Duration asked) {
        long most = asked.toNanos();
        for (OpenLease.Grant grant : lease.grants) {
            most = Math.min(most, pools.bounds(grant.pool()).maxTtl().toNanos());
        }
        if (lease.waits != null) {
            for (String pool : lease.waits.wants().keySet()) {
                most = Math.min(most, pools.bounds(pool).maxTtl().toNanos());
            }
        }
        return most;
    }

    /** The time at which the lease ends even if its holder extends it. */
    private long lastEnd(OpenLease lease) {
        long end = lease.endsAt;
        for (OpenLease.Grant grant : lease.grants) {
            end = Math.min(
                    end, grant.at() + pools.bounds(grant.pool()).maxHold().toNanos());
        }
        return end;
    }

    private void keep(OpenLease lease, OpenLease.Grant grant) {
        if (lease.grants.isEmpty()) {
            holding++;
        }
        lease.grants.add(grant);
    }

    /** Removes the grant; its permits are released after the lock. */
    private void lose(OpenLease lease, OpenLease.Grant grant, Aftermath after) {
        lease.grants.remove(grant);
        if (lease.grants.isEmpty()) {
            holding--;
        }
        after.then(grant.permits()::release);
    }

    /** A pool has refused. The lease stays open: its holder may ask again, and it expires if the holder does not. */
    void refused(Demand demand, RefusalReason reason, Throwable why) {
        var unused = open.did((now, after) -> {
            if (isWanted(demand)) {
                LeaseStatus status = status(demand.lease(), now);
                wantNoMore(demand, after);
                after.then(() -> listener.refused(status, Objects.requireNonNull(status.waiting()), reason));
            }
            after.then(() -> demand.tellFailed(why));
            return true;
        });
    }

    private static boolean isWanted(Demand demand) {
        return !demand.lease().isGone && demand.lease().waits == demand;
    }

    private void wantNoMore(Demand demand, Aftermath after) {
        demand.lease().waits = null;
        open.queues().remove(demand);
        after.then(demand::leave);
    }

    // ---- the end ----

    private void end(OpenLease lease, End how, long now, Aftermath after) {
        LeaseStatus status = status(lease, now);
        open.remove(lease);
        // Before its permits go to the next: a listener that adds up both would count too many in between.
        after.then(() -> listener.ended(status, how));
        List.copyOf(lease.grants).forEach(grant -> lose(lease, grant, after));
        Demand waits = lease.waits;
        if (waits != null) {
            wantNoMore(waits, after);
            after.then(() -> waits.tellFailed(new LeaseGoneException(lease.id)));
        }
    }
}
