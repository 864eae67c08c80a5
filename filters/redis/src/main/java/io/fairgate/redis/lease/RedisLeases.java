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
import io.fairgate.lease.LeaseUnpaidException;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Refusal;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.redis.lease.LeaseBook.Change;
import io.fairgate.redis.lease.LeaseBook.Found;
import io.fairgate.redis.lease.LeaseBook.Place;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
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
    private final Sinks.Empty<Boolean> drained = Sinks.empty();

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
            drained.tryEmitEmpty();
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

    /** Keeps what is known of a lease that this gateway hosts. */
    private void knows(BookedLease lease, long clock) {
        HostedLease here = local.get(lease.id());
        if (here != null) {
            here.knows(lease);
            local.keep(lease, clock);
            local.expires(lease, clock);
        }
    }

    @Override
    public Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return book.open(id, holder, term);
    }

    // ---- acquiring ----

    @Override
    public Mono<Boolean> acquire(
            LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        return detached(book.read(id).flatMap(found -> asked(id, found, request, payment)))
                .flatMap(asked -> waitFor(asked, request));
    }

    /**
     * A lease after a request.
     *
     * @param lacking the permits that it does not hold yet
     * @param hold what waits for them in the pools of this process; null when it waits elsewhere
     */
    private record Asked(
            BookedLease lease,
            Map<String, Integer> lacking,
            @Nullable Mono<Void> payment,
            @Nullable Hold hold) {}

    /** It goes on when the caller waits no longer: a change of the book must not stay without what follows from it. */
    private static <T> Mono<T> detached(Mono<T> call) {
        return Mono.defer(() -> Mono.fromFuture(call.toFuture(), true));
    }

    private Mono<Asked> asked(
            LeaseId id, Found found, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        BookedLease lease = found.lease();
        if (lease == null) {
            return Mono.error(new LeaseGoneException(id));
        }
        Mono<Void> toPay = payment.apply(lease.status(found.clock()));
        Map<String, Integer> lacking = LeaseRules.lacking(lease, request);
        Wait waiting = lease.waiting();
        BookedLease asked;
        if (lacking.isEmpty()) {
            return Mono.just(new Asked(lease, lacking, null, null));
        } else if (waiting == null) {
            lacking.keySet().forEach(this::requirePool);
            asked = rules.requested(lease, request, lacking, book.gateway(), found.clock());
        } else if (waiting.permits().equals(lacking)) {
            asked = rules.asked(lease, request, found.clock());
        } else {
            return Mono.error(new IllegalStateException("lease %s already waits for %s, and cannot also wait for %s"
                    .formatted(id, waiting.permits(), lacking)));
        }
        if (asked.equals(lease)) {
            return Mono.just(waiting(lease, lacking, toPay));
        }
        return book.change(asked, waiting != null ? Place.KEPT : Place.NEW)
                .doOnError(unknown -> {
                    local.pay(id, toPay); // the change may have been made
                    follower.doubt(id);
                })
                .flatMap(change -> {
                    BookedLease now = change.found().lease();
                    if (!change.isDone() || now == null) {
                        return asked(id, change.found(), request, payment);
                    }
                    if (isHere(now)) {
                        local.hosted(now);
                    }
                    knows(now, change.found().clock());
                    return Mono.just(waiting(now, lacking, toPay));
                });
    }

    private Asked waiting(BookedLease lease, Map<String, Integer> lacking, @Nullable Mono<Void> toPay) {
        if (isHere(lease)) {
            local.pay(lease.id(), toPay);
        }
        return new Asked(lease, lacking, toPay, begin(lease));
    }

    private boolean isHere(BookedLease lease) {
        return lease.host().equals(book.gateway());
    }

    private @Nullable Hold begin(BookedLease lease) {
        Wait wait = lease.waiting();
        if (wait == null || !isHere(lease)) {
            return null;
        }
        Hold hold = local.begin(lease, wait);
        local.keep(lease, book.clock());
        return hold;
    }

    private void requirePool(String name) {
        if (pools.find(name) == null) {
            throw new IllegalArgumentException(
                    "unknown pool \"%s\" (expected: the name of an existing pool)".formatted(name));
        }
    }

    private Mono<Boolean> waitFor(Asked asked, LeaseRequest request) {
        BookedLease lease = asked.lease();
        Wait wait = lease.waiting();
        if (asked.lacking().isEmpty() || wait == null) {
            return Mono.just(asked.lacking().isEmpty());
        }
        Hold hold = asked.hold();
        Mono<Boolean> answer = hold != null
                ? local.acquire(hold, lease, wait, request.answerWithin())
                : elsewhere(asked, wait, now() + request.answerWithin().toNanos());
        Mono<Boolean> draining = drained.asMono().switchIfEmpty(Mono.error(() -> new LeaseGoneException(lease.id())));
        return Mono.firstWithSignal(answer, beats.loss(), draining);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** The lease waits at another process. If that ends, this one may become the host, and then the payment is needed here. */
    private Mono<Boolean> elsewhere(Asked asked, Wait wait, long until) {
        LeaseId id = asked.lease().id();
        return Mono.defer(() -> {
                    local.pay(id, asked.payment());
                    return look(id, wait, asked.lacking(), until);
                })
                .doFinally(end -> local.withdraw(id, asked.payment()));
    }

    /** Looks for the answer that the host of the lease brings into the book. */
    private Mono<Boolean> look(LeaseId id, Wait wait, Map<String, Integer> lacking, long until) {
        Duration pause = Duration.ofNanos(Math.min(until - now(), HostBeats.BEATS.toNanos()));
        if (pause.isNegative() || pause.isZero()) {
            return Mono.just(false);
        }
        return Mono.delay(pause, time).then(book.read(id)).flatMap(found -> {
            BookedLease lease = found.lease();
            if (lease == null) {
                return Mono.error(new LeaseGoneException(id));
            }
            if (lacking.keySet().stream().allMatch(lease::isHeldOf)) {
                return Mono.just(true);
            }
            Refusal refusal = lease.refusal();
            if (refusal != null && refusal.since() == wait.since()) {
                if (refusal.isUnpaid()) {
                    return Mono.error(new LeaseUnpaidException(id));
                }
                return Mono.error(new PermitRefusedException(
                        refusal.pool(),
                        lease.tenant(),
                        RefusalReason.valueOf(refusal.reason()),
                        Duration.ofMillis(found.clock() - wait.since())));
            }
            return lease.waiting() == null ? Mono.just(false) : look(id, wait, lacking, until);
        });
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
                    knows(now, clock);
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
        return detached(book.end(id).flatMap(found -> {
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
        return detached(book.endUnused(id).flatMap(found -> {
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
        return detached(book.read(id).flatMap(found -> release(id, found, pool)));
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
                    knows(now, change.found().clock());
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
                        begin(now);
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
            before.permits().keySet().forEach(this::requirePool);
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
