package io.fairgate.redis.lease;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseListener.End;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.redis.lease.LeaseBook.Change;
import io.fairgate.redis.lease.LeaseBook.Found;
import io.fairgate.redis.lease.LeaseBook.Place;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Leases in Redis, which all processes on the same Redis serve: each of them extends, shows and releases the leases that another has granted,
 * also after that one has ended.
 *
 * <p>A lease waits in the pools of the process that was asked first, and of another one when that has ended. A call at a third process looks
 * for the answer ten times a second. Each event goes to the listeners of one process: of that which was called, and of that which granted.
 *
 * <p>Times are those of Redis, in milliseconds; a leap of its clock ends no lease early. A lease lasts longer by the time in which no process has
 * called Redis.
 *
 * <p>For any thread; nothing blocks. A call errors with {@link io.fairgate.lease.LeasesUnavailableException} when Redis does not answer for 300 ms,
 * and so do all calls that wait for permits.
 */
public final class RedisLeases implements Leases {

    private static final Duration CLOSING = Duration.ofSeconds(1);

    /** The host of leases that wait for another process to take them. */
    private static final String NO_HOST = "";

    private final LeasedPools pools;
    private final Scheduler time;
    private final LeaseEvents events = new LeaseEvents();
    private final LeaseRules rules;
    private final LeaseBook book;
    private final LedgerClaims ledgers;
    private final LocalLeases local;
    private final BookFollower follower;
    private final RestoredLeases restores;
    private final HostBeats beats;
    private final Acquisitions acquisitions;

    /**
     * Leases of the permits of pools that {@link io.fairgate.redis.RedisPools} has made on the same Redis. Begins to tell the others that this
     * process lives.
     *
     * @param failover how long a server of Redis that was replaced may go on to accept writes
     * @param heartbeats the thread of the heartbeats
     */
    public static RedisLeases start(
            LeasedPools pools, RedisConnections redis, Duration failover, Scheduler heartbeats) {
        RedisLeases leases = new RedisLeases(
                pools,
                BookCalls.of(redis),
                UUID.randomUUID().toString(),
                failover,
                MonotonicScheduler.INSTANCE,
                heartbeats);
        leases.beats.start();
        return leases;
    }

    /**
     * @param gateway a name that no other gateway has and had
     * @param time the clock and the timers; must be monotonic
     */
    RedisLeases(
            LeasedPools pools,
            BookCalls calls,
            String gateway,
            Duration failover,
            Scheduler time,
            Scheduler heartbeats) {
        this.pools = pools;
        this.time = time;
        this.rules = new LeaseRules(pools);
        this.book = new LeaseBook(calls, gateway, failover, time, this::expired);
        this.ledgers = new LedgerClaims(pools, gateway, time);
        Scheduler.Worker thread = heartbeats.createWorker();
        Expiries expiries = new Expiries(time, thread);
        this.local = new LocalLeases(pools, ledgers, expiries, time);
        this.follower = new BookFollower(book, local, ledgers);
        PoolDecisions decisions = new PoolDecisions(book, rules, ledgers, local, events, time);
        this.restores = new RestoredLeases(book, rules, ledgers, local, decisions, events, time);
        this.beats = new HostBeats(book, local, follower, expiries, time, thread);
        this.acquisitions = new Acquisitions(book, rules, local, follower, beats, time);
    }

    void startBeats() {
        beats.start();
    }

    /** Leases that wait here go on to wait at another process, some seconds later and in the order of their arrival. */
    @Override
    public Mono<Void> drain() {
        return Mono.defer(() -> {
            beats.takeNoMore();
            local.drain();
            acquisitions.end();
            return Flux.fromIterable(local.all()).flatMap(this::handOver).then();
        });
    }

    private Mono<Void> handOver(HostedLease here) {
        BookedLease lease = here.known();
        Wait wait = lease.waiting();
        if (here.isBringing()) {
            return Flux.fromIterable(here.holds())
                    .flatMap(hold -> hold.brought().onErrorComplete())
                    .then(Mono.defer(() -> here.isBringing() ? Mono.empty() : handOver(here)));
        }
        if (wait == null) {
            return Mono.empty();
        }
        return book.change(lease.waitingFor(wait, NO_HOST), Place.KEPT)
                .filter(Change::isDone)
                .flatMap(change -> local.drop(lease.id(), change.found().lease()))
                .onErrorComplete(); // another process takes it when this one has ended
    }

    /**
     * Ends the part of this process. Its leases go on: others extend and release them, and those that wait queue anew at another process. Calls
     * that wait error. The pools can be closed after it.
     */
    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            beats.stop();
            return Mono.fromFuture(local.dropAll().toFuture(), true)
                    .timeout(CLOSING, Mono.empty(), time)
                    .then(book.leave())
                    .onErrorComplete();
        });
    }

    @Override
    public void listen(LeaseListener listener) {
        events.add(listener);
    }

    /** A call of this gateway has found that the lease had expired. */
    private void expired(Found found) {
        BookedLease lease = found.lease();
        if (lease != null) {
            ended(lease, found.clock(), End.EXPIRED);
            var unused = local.end(lease).subscribe(nothing -> {}, failed -> {});
        }
    }

    private void ended(BookedLease lease, long clock, End how) {
        LeaseStatus status = lease.status(clock);
        events.publish(listener -> listener.ended(status, how));
    }

    @Override
    public Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return book.open(id, holder, term);
    }

    @Override
    public Mono<Boolean> acquire(
            LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        return acquisitions.acquire(id, request, payment);
    }

    // ---- extending and releasing ----

    @Override
    public Mono<Duration> extend(LeaseId id, Duration ttl) {
        return book.read(id).flatMap(found -> extend(found, ttl));
    }

    private Mono<Duration> extend(Found found, Duration ttl) {
        BookedLease lease = found.lease();
        if (lease == null) {
            return Mono.empty();
        }
        BookedLease extended = rules.extended(lease, ttl, found.clock());
        Mono<Boolean> held = extended.expires() > lease.expires()
                ? ledgers.extend(lease.grants(), extended.expires() - found.clock())
                : Mono.just(true);
        return held.flatMap(isHeld -> isHeld ? book.change(extended, Place.KEPT) : lost(lease))
                .flatMap(change -> {
                    BookedLease now = change.found().lease();
                    if (!change.isDone() || now == null) {
                        return extend(change.found(), ttl);
                    }
                    long clock = change.found().clock();
                    local.knows(now, clock);
                    Duration lasts = Duration.ofMillis(Math.max(0, now.expires() - clock));
                    LeaseStatus status = now.status(clock);
                    events.publish(listener -> listener.extended(status, lasts));
                    return Mono.just(lasts);
                });
    }

    /** A ledger does not have the permits of the lease any more: it has lost them, and no gateway knew them. So the lease is over. */
    private Mono<Change> lost(BookedLease lease) {
        return book.end(lease.id()).flatMap(found -> {
            expired(found);
            return Mono.empty();
        });
    }

    @Override
    public Mono<Boolean> release(LeaseId id) {
        return Detached.call(book.end(id).flatMap(found -> {
            BookedLease lease = found.lease();
            if (lease == null) {
                return Mono.just(false);
            }
            ended(lease, found.clock(), End.RELEASED);
            return local.end(lease).thenReturn(true);
        }));
    }

    @Override
    public Mono<Void> forget(LeaseId id) {
        return Detached.call(book.endUnused(id).flatMap(found -> {
            BookedLease lease = found.lease();
            if (lease == null) {
                return Mono.<Void>empty();
            }
            ended(lease, found.clock(), End.RELEASED);
            return local.end(lease);
        }));
    }

    @Override
    public Mono<Boolean> release(LeaseId id, String pool) {
        return Detached.call(book.read(id).flatMap(found -> release(id, found, pool)));
    }

    private Mono<Boolean> release(LeaseId id, Found found, String pool) {
        BookedLease lease = found.lease();
        if (lease == null) {
            return Mono.error(new LeaseGoneException(id));
        }
        Grant grant = lease.grants().stream()
                .filter(each -> each.pool().equals(pool))
                .findFirst()
                .orElse(null);
        Wait waiting = lease.waiting();
        if (grant != null) {
            return change(lease.without(pool), Place.KEPT).flatMap(change -> {
                if (!change.isDone()) {
                    return release(id, change.found(), pool);
                }
                BookedLease now = change.found().lease();
                if (now != null) {
                    local.knows(now, change.found().clock());
                }
                LeaseStatus before = lease.status(found.clock());
                before.held().stream()
                        .filter(held -> held.pool().equals(pool))
                        .forEach(held -> events.publish(listener -> listener.released(before, held)));
                return local.end(id, grant).thenReturn(true);
            });
        }
        if (waiting == null || !waiting.permits().containsKey(pool)) {
            return Mono.just(false);
        }
        return change(rules.left(lease, waiting, pool, found.clock()), Place.NEW)
                .flatMap(change -> {
                    BookedLease now = change.found().lease();
                    if (!change.isDone() || now == null) {
                        return release(id, change.found(), pool);
                    }
                    HostedLease here = local.get(id);
                    if (here != null) {
                        here.knows(now);
                        local.leave(here, null, null);
                        acquisitions.begin(now);
                    }
                    return Mono.just(true);
                });
    }

    /** The answer may be lost, and Lettuce may have sent the call twice: then the pools are to look at the book. */
    private Mono<Change> change(BookedLease to, Place place) {
        return book.change(to, place)
                .doOnError(unknown -> follower.doubt(to.id()))
                .doOnNext(change -> {
                    if (!change.isDone()) {
                        follower.doubt(to.id());
                    }
                });
    }

    // ---- restoring ----

    @Override
    public Mono<Boolean> restore(LeaseId id, LeaseHolder holder, LeaseTerm term, HeldBefore before) {
        return Mono.defer(() -> {
            before.permits().keySet().forEach(rules::requirePool);
            return open(id, holder, before.bounded(term, pools))
                    .flatMap(isOpen -> isOpen ? restores.restore(id, before) : Mono.just(false));
        });
    }

    @Override
    public Mono<Void> bury(LeaseId id, TenantId tenant, Duration remembered) {
        return book.bury(id, tenant, remembered);
    }

    // ---- showing ----

    @Override
    public Mono<LeaseMemory> memory() {
        return book.memory();
    }

    @Override
    public Mono<LeaseStatus> status(LeaseId id) {
        return book.read(id).flatMap(found -> {
            BookedLease lease = found.lease();
            return lease == null ? Mono.empty() : follower.inQueue(lease).map(now -> now.status(found.clock()));
        });
    }

    @Override
    public Flux<LeaseId> ids() {
        return book.ids().flatMapIterable(ids -> ids);
    }

    @Override
    public Flux<LeaseId> ids(TenantId tenant) {
        return book.ids(tenant).flatMapIterable(ids -> ids);
    }

    @Override
    public Mono<LeaseCount> count() {
        return book.count();
    }

    @Override
    public Mono<Integer> count(TenantId tenant) {
        return book.count(tenant);
    }

    @Override
    public Mono<WaitingLeases> waiting(String pool) {
        return book.waiting(pool);
    }
}
