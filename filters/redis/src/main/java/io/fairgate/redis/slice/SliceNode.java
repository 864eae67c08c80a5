package io.fairgate.redis.slice;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.permit.embedded.PoolSlice;
import io.fairgate.redis.division.ClusterShares;
import io.fairgate.redis.division.LargeTurn;
import io.fairgate.redis.division.NodeDemand;
import io.fairgate.redis.division.NodeShare;
import io.fairgate.redis.division.OwedPermits;
import io.fairgate.redis.division.ToldDemands;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.SliceStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * One node of a pool: sends its heartbeats, and has the pool of this process follow the slice that the ledger gives.
 *
 * <p>All of it runs on one worker, one task at a time. Each heartbeat has these steps, and the next one begins after the last step.
 * Hints and changes of the settings may come between two steps, and change the target:
 *
 * <ol>
 *   <li>The pool tells what its tenants ask for, which gives the target ({@link ClusterShares}).
 *   <li>A node above its target bounds its pool first: what it no longer uses becomes free with the heartbeat.
 *   <li>The ledger answers, and the pool is bounded by the slice; then the end of the slice is moved. In this order, because the
 *       slice may have ended meanwhile, and the next one may be smaller.
 * </ol>
 *
 * <p>The permits of a recorded lease are not in the slice, and stay in flight in the pool: its bound is the slice and these. When the
 * lease ends, the bound goes down before the permits are released.
 *
 * <p>Without an answer for most of the term, the node goes on by itself ({@link Outage}): the pool is bounded by the permits of the policy,
 * the slice gets no end, and the heartbeats go on.
 */
final class SliceNode {

    /** How long a node waits for an answer before it sends the next heartbeat. */
    static final Duration PATIENCE = Duration.ofMillis(300);

    /**
     * How long a node keeps a permit that it has just got in turn. With it comes what the others are owed by now, and otherwise the permit would go to
     * and fro.
     */
    private static final Duration LEAST_TURN = Duration.ofMillis(50);

    private static final double ROUNDING = 1e-6;

    private static final Mono<SliceAnswer> NO_ANSWER =
            Mono.error(() -> new TimeoutException("no answer within %d ms".formatted(PATIENCE.toMillis())));

    private final SliceAgent agent;
    private final PoolSlice slice;
    private final SliceLedger ledger;
    private final Scheduler time;
    private final Scheduler timers;
    private final Scheduler.Worker thread;
    private final HeartbeatTimer heartbeats;
    private final HostedLeases leases;
    private final Hints hints;
    private final OwedPermits owed;
    private final LargeTurn turn =
            new LargeTurn(HeartbeatTimer.BEATS.multipliedBy(2).toNanos());
    private final SliceLog report;
    private final Outage outage;
    private final ToldDemands told = new ToldDemands();
    private final LongSupplier maxCollect;

    private int permits;
    private ClusterShares division;
    private NodeShare share = NodeShare.NONE;
    /** What the requests asked for when the last heartbeat began. */
    private AskedPermits asked = new AskedPermits(Map.of(), Map.of(), 0);
    /** The permits of the slice that the pool may use. */
    private int usable;
    /** The bound of the pool: these, the reserve and the leases; or in an outage the permits of the policy and the leases. */
    private int bound;
    /** The permits of leases within the bound. */
    private int leasedInBound;
    /** When the slice ends. */
    private long grantsUntil;

    /** For other threads. */
    private volatile LatestAnswer latest;

    /** Until when a permit that the node has got in turn stays. */
    private long keptUntil;

    /** When the latest heartbeat was sent, and how long the last answer took. */
    private long sentAt;

    private int limitSent;
    /** The slice before the latest heartbeat. */
    private int sliceBefore;

    private long roundTrip;
    private volatile boolean isStopped;

    private final Mono<Void> stopped = Mono.defer(this::lastBeat).cache();

    /**
     * Has the pool grant nothing until the ledger has answered, or an outage has begun.
     *
     * @param shares the shares of the tenants in all nodes together
     * @param outagePolicy what the node grants while the ledger does not answer
     * @param names a name that no other node has and had, each time: that of the node, a hyphen and a number
     * @param time the clock of the pool
     * @param heartbeats the thread of the heartbeats
     */
    SliceNode(
            EmbeddedPermitPool pool,
            TenantShares shares,
            SliceLedger ledger,
            SliceTerm term,
            OutagePolicy outagePolicy,
            Supplier<String> names,
            Scheduler time,
            Scheduler heartbeats) {
        this.agent = new SliceAgent(term, names);
        this.permits = pool.settings().permits();
        this.outage = new Outage(outagePolicy, term, permits);
        this.division = new ClusterShares(shares);
        this.ledger = ledger;
        this.time = time;
        this.timers = heartbeats;
        this.thread = heartbeats.createWorker();
        this.heartbeats = new HeartbeatTimer(thread, this::now, this::beat);
        this.leases = new HostedLeases(agent);
        this.hints = new Hints(ledger, this::run, this::now);
        this.owed = new OwedPermits(now());
        this.latest = new LatestAnswer(0, 0, permits, 0, 0, false, now(), 0, now(), false);
        this.report = new SliceLog(pool.name(), permits, outagePolicy);
        this.maxCollect = () -> pool.settings().fairness().maxCollect().toNanos();
        this.slice = pool.share(() -> run(this.heartbeats::soon));
        this.keptUntil = now();
        // Requests wait for the first answer, and not for ever.
        this.grantsUntil = now() + term.grantNanos();
        slice.endsAt(grantsUntil);
    }

    /** For any thread. */
    SliceStatus status() {
        return latest.status(now(), report.failure());
    }

    /** Begins to send heartbeats. */
    void start() {
        hints.listen(this::permitsAreFree, this::called);
        run(heartbeats::start);
    }

    /** Follows a changed size and changed shares of the pool. */
    void reconfigure(int permits, TenantShares shares) {
        run(() -> {
            this.permits = permits;
            report.permits(permits);
            this.division = new ClusterShares(shares);
            heartbeats.soon();
        });
    }

    /** Ends the heartbeats with one that gives the slice back. The pool must be closed, and nothing in flight. */
    Mono<Void> stop() {
        return stopped;
    }

    private Mono<Void> lastBeat() {
        hints.end();
        return Mono.<Heartbeat>create(sink -> run(() -> {
                    isStopped = true;
                    sink.success(agent.lastBeat());
                }))
                .flatMap(ledger::heartbeat)
                .timeout(PATIENCE, timers)
                .onErrorComplete() // The ledger ends the node when its term ends.
                .then()
                .doFinally(end -> thread.dispose());
    }

    private void run(Runnable task) {
        if (!thread.isDisposed()) {
            var unused = thread.schedule(task);
        }
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- leases ----

    /** As {@link LeasePermits#record}. */
    Mono<Boolean> record(LeaseClaim claim, boolean isRestored) {
        return Mono.create(sink -> run(() -> {
            leases.add(claim, isRestored, sink);
            heartbeats.atOnce(() -> {});
        }));
    }

    /** As {@link LeasePermits#extend}. */
    Mono<Boolean> extend(String id, long ttlMillis) {
        return Mono.defer(() -> ledger.extend(id, ttlMillis))
                .timeout(PATIENCE, timers)
                .doOnNext(isHeld -> run(() -> agent.lasts(id, ttlMillis)));
    }

    /** As {@link LeasePermits#keep}. */
    void keep(LeaseClaim lease) {
        run(() -> agent.keep(lease));
    }

    /** As {@link LeasePermits#forget}. */
    void forget(String id) {
        run(() -> agent.forget(id));
    }

    /** As {@link LeasePermits#end}. */
    Mono<Void> end(String id, Runnable release) {
        return Mono.when(leave(id, release), release(id)).then(Mono.create(sink -> afterBeat(sink::success)));
    }

    /** As {@link LeasePermits#leave}. */
    Mono<Void> leave(String id, Runnable release) {
        return Mono.create(sink -> {
            Runnable released = () -> {
                release.run();
                sink.success();
            };
            if (thread.isDisposed()) {
                released.run();
            } else {
                run(() -> remove(id, released));
            }
        });
    }

    private void remove(String id, Runnable release) {
        int before = leases.permits();
        if (!leases.remove(id, release)) {
            return;
        }
        if (leases.permits() == before) {
            release.run();
            return;
        }
        bound = Math.max(0, bound - (before - leases.permits()));
        // The bound first: otherwise the pool would grant the permits again.
        var unused = limit().subscribe(inFlight -> release.run(), failed -> release.run());
    }

    /** Without an answer, the ledger is told again after the next heartbeat that is answered. */
    private Mono<Void> release(String id) {
        return Mono.defer(() -> ledger.release(id)).timeout(PATIENCE, timers).onErrorResume(failed -> {
            run(() -> leases.releaseLater(id));
            return Mono.empty();
        });
    }

    /** The next heartbeat has the permits that are free now. After the end of the node there is none. */
    private void afterBeat(Runnable ended) {
        if (isStopped) {
            ended.run();
        } else {
            run(() -> heartbeats.atOnce(ended));
        }
    }

    // ---- hints ----

    /** While permits are scarce, the node may be the next one by what the others have not told it yet. */
    private void permitsAreFree() {
        aim();
        boolean isNext = target() > agent.slice(now());
        if (isNext || (lacking() > ROUNDING && share.isScarce() && hints.look(nodes()))) {
            heartbeats.soon();
        }
    }

    /** Another node lacks permits, and this one may have too many by now. */
    private void called() {
        if (agent.slice(now()) > 0) {
            heartbeats.soon();
        }
    }

    /** How much more the node is entitled to than it has. */
    private double lacking() {
        return share.entitled() - agent.slice(now()) - leases.permits();
    }

    // ---- the steps of a heartbeat ----

    private void beat() {
        if (isStopped) {
            heartbeats.ended();
        } else {
            report.now(status());
            hints.beat();
            next(slice.asked(), this::asked);
        }
    }

    /** Continues on the worker with what a call emits. After an error or no answer, the next heartbeat says the same again. */
    private <T> void next(Mono<T> call, Consumer<T> step) {
        call.switchIfEmpty(Mono.error(() -> new IllegalStateException("no answer")))
                .subscribe(value -> run(() -> take(step, value)), error -> run(() -> fail(error)));
    }

    /** An exception or error in a step must not end the heartbeats. */
    private <T> void take(Consumer<T> step, T value) {
        try {
            step.accept(value);
        } catch (RuntimeException | Error e) {
            report.fault(e);
            heartbeats.ended();
        }
    }

    private void fail(Throwable error) {
        report.failed(error);
        heartbeats.ended();
    }

    private void asked(AskedPermits asked) {
        this.asked = asked;
        aim();
        if (isStopped) {
            heartbeats.ended();
        } else if (outage.isDue(now(), grantsUntil)) {
            goOnWithoutAnswers();
        } else if (agent.slice(now()) > target()) {
            limit(target(), this::send);
        } else if (leases.isRestoreUnrecorded()) {
            limit(usable, this::send);
        } else {
            send(usable);
        }
    }

    private void goOnWithoutAnswers() {
        if (!outage.isPossible()) {
            stopWithoutAnswers();
            return;
        }
        int alone = outage.permits(now(), grantsUntil, agent.slice(now()));
        int leased = leases.permits();
        bound = alone + leased;
        next(limit(), all -> {
            int inFlight = all - leased;
            slice.endsAt(Long.MAX_VALUE);
            latest = latest.withOutage(alone);
            int used = Math.max(0, Math.max(alone, inFlight) - outage.reserve());
            agent.aimAt(outage.wanted(target(), Math.max(0, inFlight - outage.reserve())));
            send(used);
        });
    }

    /** The pool has become too small for the policy. */
    private void stopWithoutAnswers() {
        outage.end(now());
        int leased = leases.permits();
        bound = leased;
        next(limit(), inFlight -> {
            slice.endsAt(grantsUntil);
            usable = 0;
            latest = latest.withoutOutage();
            send(Math.max(0, inFlight - leased));
        });
    }

    private NodeDemand demand() {
        return NodeDemand.of(asked, owed.permitSeconds(now()), permits, turn.urgency(owed, now()), leases.permits());
    }

    private void aim() {
        outage.size(smallest());
        if (demands().isEmpty()) {
            share = NodeShare.NONE;
        } else {
            Map<String, NodeDemand> all = new HashMap<>(demands());
            all.put(agent.node(), demand());
            all.replaceAll((name, told) -> told.without(outage.reserveToCome()));
            share = division.of(outage.divided(), agent.node(), all, now() - keptUntil < 0);
        }
        agent.aimAt(target());
        owe();
        int needed = demand().without(outage.reserveToCome()).large().needed();
        turn.update(share, needed, agent.slice(now()), leases.permits(), owed, maxCollect.getAsLong(), now());
    }

    /** What the slice should have. Leases that are recorded are not part of it. */
    private int target() {
        return outage.bounded(Math.max(0, share.target() - leases.permits()), now());
    }

    private Map<String, NodeDemand> demands() {
        return told.of(agent.demands());
    }

    /** How many nodes share the pool, this one included. */
    private int nodes() {
        return NodeNames.nodes(demands().keySet());
    }

    /** The smallest size of the pool in the policies of all nodes. */
    private int smallest() {
        return demands().entrySet().stream()
                .filter(told -> !told.getKey().equals(agent.node()))
                .mapToInt(told -> told.getValue().limit())
                .reduce(permits, Math::min);
    }

    private void owe() {
        owed.update(now(), share, agent.slice(now()) + leases.permits());
    }

    /** Bounds the pool; emits the permits in flight. */
    private Mono<Integer> limit() {
        leasedInBound = leases.permits();
        return slice.limit(bound, leasedInBound);
    }

    private void limit(int most, IntConsumer step) {
        int besideSlice = outage.reserve() + leases.permits();
        bound = most + besideSlice;
        next(limit(), inFlight -> {
            usable = most;
            // The target may be lower by now: the node must promise no less than the bound.
            step.accept(Math.max(most, inFlight - besideSlice));
        });
    }

    private void send(int inFlight) {
        sentAt = now();
        sliceBefore = agent.slice(sentAt);
        limitSent = outage.divided();
        leases.move(sentAt, inFlight);
        Heartbeat beat = agent.beat(sentAt, limitSent, inFlight, demand().text());
        owe();
        next(Mono.defer(() -> ledger.heartbeat(beat)).timeout(PATIENCE, NO_ANSWER, timers), this::answered);
    }

    private void answered(SliceAnswer answer) {
        roundTrip = now() - sentAt;
        boolean isFirst = demands().isEmpty();
        leases.answered(agent.answered(answer, now())).forEach(ended -> remove(ended.id(), ended.release()));
        if (agent.slice(now()) != sliceBefore) {
            boolean isMore = agent.slice(now()) > sliceBefore;
            keptUntil = now() + (isMore && share.isScarce() ? LEAST_TURN.toNanos() : 0);
        }
        if (answer.outcome() == SliceAnswer.Outcome.RECORDED) {
            leases.unreleased().forEach(id -> release(id).subscribe());
        }
        aim();
        hints.lacks(lacking(), nodes());
        if ((isFirst || hints.isLooking()) && target() > agent.slice(now())) {
            heartbeats.soon(); // Only now it knows what it needs.
        }
        slice.weigh(share.parts(), share.groupParts()).subscribe();
        if (answer.outcome() == SliceAnswer.Outcome.RECORDED) {
            outage.answered(nodes(), answer.hasRoom(), limitSent, now());
        }
        boolean isBack = outage.isOn();
        if (isBack && outage.outlasts(answer, agent.slice(now()), target(), now(), agent.grantsUntil())) {
            latest = latest.withoutSlice(answer.now().epoch(), answer.isRecovering(), heartbeats.lastBeat(), roundTrip);
            report.answered();
            report.now(status());
            heartbeats.ended();
            return;
        }
        if (isBack) {
            outage.end(now());
            aim();
        }
        int most = Math.min(agent.slice(now()), target());
        if (most + outage.reserve() + leases.permits() == bound && leases.permits() == leasedInBound) {
            usable = most;
            bounded(answer);
        } else {
            limit(most, inFlight -> bounded(answer));
        }
    }

    private void bounded(SliceAnswer answer) {
        owe();
        grantsUntil = agent.grantsUntil();
        slice.endsAt(grantsUntil);
        int reserve = outage.reserve();
        latest = new LatestAnswer(
                usable + reserve,
                target() + reserve,
                smallest(),
                nodes(),
                answer.now().epoch(),
                answer.isRecovering(),
                heartbeats.lastBeat(),
                roundTrip,
                grantsUntil,
                false);
        report.answered();
        report.now(status());
        heartbeats.ended();
    }
}
