package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;

import io.fairgate.lease.LeaseListener.End;
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
 * Permits under an id and an expiry, for holders that are not a request: batch jobs, workers, crawlers. They come from the
 * same pools as those of requests, by the same rules, and come back by themselves when their holder falls silent.
 *
 * <p>A lease is opened with nothing in it, and takes permits: most take those of one pool, once; some of several pools, at
 * once or one after the other. It waits for one thing at a time, and keeps its place in the queue for as long as it lasts,
 * whether somebody waits for the answer or not. It ends when it is released or expires, and gives back all that it holds
 * and its place at that moment: there is no sweep, and every call sees each lease that is due as gone.
 *
 * <p><b>Threads.</b> From any thread. One lock guards what is noted here; signals, listeners and pools are called outside
 * of it. No call blocks but for that lock, which is held for a few steps.
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

    // ---- what holders do ----

    /**
     * Opens a lease that holds nothing.
     *
     * @param holder what its holder calls itself, for those who look at it
     * @return false, and nothing has changed, when there is one with this id
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
     * Asks for permits, or goes on to wait for them: whoever asks again for the same keeps the place that the first one got.
     * What the lease holds already of a pool is not asked for again. Lazy; each subscription asks.
     *
     * @param check looks at the lease before anything is asked, and throws what is to be told instead; the lock is held
     *     meanwhile
     * @return true when the lease holds the permits; false when it waits for them still, after the patience of the caller or
     *     when several others have asked again since, or has given its place back.
     *     Errors with {@link LeaseGoneException} when it is not there or ends meanwhile, with
     *     {@link PermitRefusedException} when a pool refuses, with {@link IllegalArgumentException} when
     *     there is no such pool, with {@link IllegalStateException} when it waits for something else, and with what
     *     {@code check} throws. Cancelling it leaves the lease where it is.
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
     * Completes when the pool has been asked, and has seen to all that it had been asked before. Another thread may have
     * begun to ask for this lease and not have come to it, or may be at work in the pool, which grants what is free a moment
     * later: the answer must not be that the lease waits.
     */
    private Mono<?> settled(Demand demand) {
        return demand.asked().then(Mono.defer(() -> {
            PermitPool pool = pools.find(demand.pool());
            return pool == null ? Mono.empty() : pool.inFlight();
        }));
    }

    /** Null when the lease holds what is asked. */
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
     * Makes a lease last for that long from now on, as far as its maximum hold and the bounds of its pools allow.
     *
     * @return how long it lasts; null, and nothing has changed, when it is not there
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
     * Ends a lease: what it holds comes back, and whoever waits for it is told.
     *
     * @return false when it is not there
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
     * Gives back what a lease holds of one pool, or its place in the queue there; the lease goes on. If it waits for other
     * pools as well, it asks for those anew.
     *
     * @return false when it has nothing to do with that pool
     * @throws LeaseGoneException when it is not there
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

    // ---- what others ask ----

    /** How a lease stands; null when it is not there. */
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

    /** The ids of all leases, in no order. Takes a step for each. */
    public List<LeaseId> ids() {
        return Objects.requireNonNull(open.locked(
                (now, after) -> open.all().stream().map(lease -> lease.id).toList()));
    }

    /** The ids of the leases of one tenant, in no order. Takes a step for each of them. */
    public List<LeaseId> ids(TenantId tenant) {
        return Objects.requireNonNull(open.locked((now, after) -> open.ids(tenant)));
    }

    /** How many leases one tenant has. */
    public int size(TenantId tenant) {
        return Objects.requireNonNull(open.locked((now, after) -> open.count(tenant)));
    }

    /** How many there are. */
    public int size() {
        return Objects.requireNonNull(open.locked((now, after) -> open.all().size()));
    }

    /** How many there are of each kind. */
    public LeaseCount count() {
        return Objects.requireNonNull(open.locked((now, after) ->
                new LeaseCount(open.all().size(), holding, open.queues().size())));
    }

    /** What leases wait for in a pool. Takes a step for each tenant whose leases wait somewhere. */
    public PoolDemand demand(String pool) {
        return Objects.requireNonNull(open.locked((now, after) -> open.queues().demand(pool, now)));
    }

    // ---- after a restart ----

    /**
     * Opens a lease that holds permits already, though the pools of this process have not granted them: after a restart, for
     * a holder that has proof of what it held ({@link PermitPool#restore}). Its bounds count from when it was first granted,
     * and its new fencing token is larger than its old one.
     *
     * @return false, and nothing has changed, when there is one with this id. Errors with {@link PermitRefusedException} when
     *     a pool refuses, which the listener is told, and then there is no lease
     */
    public Mono<Boolean> restore(LeaseId id, TenantId tenant, String holder, LeaseTerm term, HeldBefore before) {
        return Mono.defer(() -> {
            Map<String, Integer> permits = before.permits();
            permits.keySet().forEach(this::requirePool);
            Duration ttl = permits.keySet().stream()
                    .map(pool -> pools.bounds(pool).maxTtl())
                    .reduce(term.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
            // This one, and no later one with its id: it may end while the pools are asked.
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

    /** Cancelled by a caller that has been answered already, such as one that fails to pass the answer on, it changes nothing. */
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

    // ---- what is asked of pools, and what they answer ----

    /** Outside the lock. A pool may have gone since the lease asked. */
    private void ask(Demand demand, String name) {
        PermitPool pool = pools.find(name);
        if (pool == null) {
            refused(
                    demand,
                    RefusalReason.DRAINING,
                    new IllegalArgumentException("pool: %s (expected: one that there is)".formatted(name)));
            return;
        }
        // The handle of who need not wait is smaller, and there may be many for long.
        HeldPermits atOnce = pool.tryAcquire(demand.request(name));
        if (atOnce == null) {
            pool.acquire(demand.request(name)).subscribe(demand.attempt(name));
        } else {
            granted(demand, name, atOnce);
        }
    }

    /** With what this pool has granted: takes all else that is wanted, or gives back and goes to wait where it lacks. */
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

    /** As long as asked, or as the pools allow of which it holds permits, or wants them. */
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

    /** When it is over whatever its holder does. */
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

    /** What it held comes back when the lock has been left. */
    private void lose(OpenLease lease, OpenLease.Grant grant, Aftermath after) {
        lease.grants.remove(grant);
        if (lease.grants.isEmpty()) {
            holding--;
        }
        after.then(grant.permits()::release);
    }

    /** The lease stays open: its holder may ask again, and it expires when it is not asked for. */
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
        // Before anybody is given what it held: who accounts for both would count too many in between.
        after.then(() -> listener.ended(status, how));
        List.copyOf(lease.grants).forEach(grant -> lose(lease, grant, after));
        Demand waits = lease.waits;
        if (waits != null) {
            wantNoMore(waits, after);
            after.then(() -> waits.tellFailed(new LeaseGoneException(lease.id)));
        }
    }
}
