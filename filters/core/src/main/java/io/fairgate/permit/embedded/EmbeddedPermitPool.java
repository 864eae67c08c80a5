package io.fairgate.permit.embedded;

import io.fairgate.fairness.Claim;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolTotals;
import io.fairgate.fairness.TenantShares;
import io.fairgate.fairness.TenantStanding;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.concurrent.Queues;

/**
 * A pool in the memory of this process.
 *
 * <p><b>The fast path.</b> While no request waits, free permits are open ({@link OpenPermits}): a request takes one by a
 * compare-and-set and puts it back by another, without the scheduler and without another thread.
 *
 * <p><b>The drain.</b> Otherwise each change (a new claim, a cancellation, a release) becomes a command in {@link #news},
 * followed by a call of {@link #drain}. One thread at a time executes the commands; the others have left already, so no
 * thread ever waits for another. That keeps the scheduler plain single-threaded code. A claim in the queue is not an
 * instruction: it only means "look at this claim", and the drain brings the scheduler into agreement with the claim's state.
 * Doing so twice changes nothing, which makes a double release impossible.
 *
 * <p><b>The dispatch.</b> Granted claims go to {@link #ready}, and a second loop resumes them on their event loops. So user
 * code never runs inside the drain, and a work that completes at once and thereby grants the next one does not nest. Both
 * loops continue on the pool's scheduler after {@link #BATCH} steps, so that no thread works for the others for long.
 */
public final class EmbeddedPermitPool implements PermitPool {

    /** The most claims, in addition to {@code max-waiting}, that may be submitted and not yet seen by the drain. */
    private static final int MOST_ON_THEIR_WAY = 10_000;
    /** Steps after which a loop continues on another thread. */
    private static final int BATCH = 256;
    /** Stands for the time when the caller has not read the clock. */
    static final long UNKNOWN = -1;
    /** The fewest drains without a waiting claim before the fast path opens again: opening and shutting has a cost. */
    private static final int CALM = 64;

    private final String name;
    private final Scheduler time;
    /** The zero of the pool's times, on the clock of {@link #time}. */
    private final long origin;

    private final PoolListener listener;
    private final boolean heard;

    /** The commands for the drain: a {@link PoolClaim} to look at, or a {@link Runnable}. */
    private final Queue<Object> news = Queues.unboundedMultiproducer().get();

    private final AtomicInteger newsCount = new AtomicInteger();
    /** Claims that were submitted and that the drain has not seen yet. Bounded: threads can submit faster than it works. */
    private final AtomicInteger onTheirWay = new AtomicInteger();
    /** The commands for the dispatch: a {@link PoolClaim} to resume, or a {@link Runnable}. Only the drain adds commands. */
    private final Queue<Object> ready = Queues.unbounded().get();

    private final AtomicInteger readyCount = new AtomicInteger();
    private final Consumer<Object> hear = this::hear;
    private final Consumer<Object> send = this::send;
    private final Consumer<Claim> granted = this::granted;
    private final Consumer<PoolClaim> adopt = this::adopt;
    private final Sinks.Empty<Void> idle = Sinks.empty();

    private volatile PoolSettings settings;
    private volatile MayTakeUnasked unasked;
    private volatile boolean toBeClosed;
    private volatile OpenPermits open;
    private final Deadlines deadlines;

    // Below: only for the thread that drains.
    private final FairScheduler scheduler;
    private final List<PoolClaim> arrived = new ArrayList<>();
    /** The drains since a claim last waited or needed a decision of the scheduler. */
    private int calm = Integer.MAX_VALUE;

    private boolean closing;
    /** The sum of all permits that were ever restored, including those that have been released since. */
    private long restored;
    /** The time of this round of the drain: read once, because reading the clock takes as long as a grant. */
    private long round;
    /** The earliest known end of a hold of an open permit; {@link Deadlines#NEVER} when none is known. */
    private long firstOpen = Deadlines.NEVER;

    private Disposable patience = Disposables.disposed();

    /** A pool on the monotonic clock, without a listener. */
    public EmbeddedPermitPool(String name, PoolSettings settings, TenantShares shares) {
        this(name, settings, shares, MonotonicScheduler.INSTANCE, PoolListener.NONE);
    }

    /**
     * @param time the clock and the timers; must be monotonic, as {@link MonotonicScheduler} and virtual time are
     * @throws IllegalArgumentException when the tenants reserve more permits than the pool has, or their calculator returns
     *     less than 1
     */
    public EmbeddedPermitPool(
            String name, PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        shares.requireFit(settings.permits());
        this.name = name;
        this.settings = settings;
        this.time = time;
        this.origin = time.now(TimeUnit.NANOSECONDS);
        this.deadlines = new Deadlines(time, () -> tell(this::rang));
        this.listener = new GuardedListener(listener);
        this.heard = listener != PoolListener.NONE;
        this.scheduler = new FairScheduler(settings.permits(), shares, settings.fairness(), now());
        this.unasked = MayTakeUnasked.of(shares);
        this.open = new OpenPermits(settings.permits());
        openWhenCalm();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public PoolSettings settings() {
        return settings;
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return new MonoWithPermit<>(this, request, work);
    }

    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return new FluxWithPermit<>(this, request, work);
    }

    @Override
    public Mono<HeldPermits> acquire(PermitRequest request) {
        return new MonoHeldPermits(actual -> new AwaitedClaim(this, request, actual).start(request));
    }

    @Override
    public Mono<HeldPermits> restore(PermitRequest request) {
        return new MonoHeldPermits(actual -> new AwaitedClaim(this, request, actual).startRestored());
    }

    @Override
    public @Nullable HeldPermits tryAcquire(PermitRequest request) {
        HeldClaim claim = new HeldClaim(this, request);
        return claim.take() ? claim : null;
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return Mono.create(sink -> tell(() -> {
            // First grants what can be granted, or the snapshot would show free permits beside waiting requests.
            handOut();
            shutOpen();
            PoolStatus status = scheduler.present(round);
            ready.offer((Runnable) () -> sink.success(status));
        }));
    }

    @Override
    public Mono<PoolTotals> totals() {
        return Mono.create(sink -> tell(() -> {
            handOut();
            shutOpen();
            PoolTotals totals = scheduler.totals();
            ready.offer((Runnable) () -> sink.success(totals));
        }));
    }

    @Override
    public Mono<TenantStanding> standing(TenantId tenant) {
        return Mono.create(sink -> tell(() -> {
            handOut();
            shutOpen();
            TenantStanding standing = scheduler.standing(tenant, round);
            ready.offer((Runnable) () -> sink.success(standing));
        }));
    }

    @Override
    public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
        return Mono.create(sink -> tell(() -> {
            boolean could = scheduler.canEverFit(tenant, permits);
            ready.offer((Runnable) () -> sink.success(could));
        }));
    }

    @Override
    public Mono<Void> close(Duration patience) {
        long nanos = Math.max(
                0,
                (patience.compareTo(PoolSettings.MAX_DURATION) < 0 ? patience : PoolSettings.MAX_DURATION).toNanos());
        return Mono.defer(() -> {
            // At once, because the drain may be busy: later requests must not find an open permit any more.
            toBeClosed = true;
            unasked = MayTakeUnasked.NOBODY;
            tell(() -> {
                closing = true;
                shutOpen();
                this.patience.dispose();
                this.patience = time.schedule(() -> tell(this::refuseAllWaiting), nanos, TimeUnit.NANOSECONDS);
            });
            return idle.asMono();
        });
    }

    @Override
    public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        shares.requireFit(settings.permits());
        return Mono.create(sink -> tell(() -> {
            shutOpen();
            scheduler.reconfigure(settings.permits(), shares, settings.fairness(), round);
            if (settings.permits() != this.settings.permits()) {
                open = new OpenPermits(settings.permits());
            }
            this.settings = settings;
            unasked = MayTakeUnasked.of(shares);
            if (toBeClosed) {
                unasked = MayTakeUnasked.NOBODY;
            }
            ready.offer((Runnable) sink::success);
        }));
    }

    // ---- used by the claims ----

    /** The time in nanoseconds since the pool was made. */
    long now() {
        return time.now(TimeUnit.NANOSECONDS) - origin;
    }

    /** The time, or {@link #UNKNOWN} when there is no listener: reading the clock takes as long as taking a permit. */
    long timeOfTaking() {
        return heard ? now() : UNKNOWN;
    }

    /** The longest wait of the request. */
    long maxWaitNanos(PermitRequest request) {
        return (request.maxWait() == null ? settings.maxWait() : request.maxWait()).toNanos();
    }

    Scheduler time() {
        return time;
    }

    PoolListener listener() {
        return listener;
    }

    /** Takes an open permit for the claim; returns whether the claim holds one now. */
    boolean takeOpen(PoolClaim claim) {
        if (mustAsk(claim)) {
            return false;
        }
        OpenPermits current = open;
        claim.from = current;
        if (current.take(claim)) {
            return true;
        }
        claim.from = null;
        return false;
    }

    @Override
    public boolean hasOpenPermit(TenantId tenant) {
        return unasked.includes(tenant) && open.hasFree();
    }

    /** Whether only the scheduler can decide about the claim. */
    private boolean mustAsk(PoolClaim claim) {
        return claim.permits() != 1 || !unasked.includes(claim.tenant());
    }

    /** Takes back the permits of a claim that is over, if it held any. */
    void giveBack(PoolClaim claim) {
        OpenPermits from = claim.from;
        if (from == null || !from.giveBack(claim)) {
            look(claim);
        }
    }

    /**
     * Submits the claim to the scheduler.
     *
     * @param now the time, or {@link #UNKNOWN}
     * @return false when too many claims were submitted that the drain has not seen yet; this one was not submitted then
     */
    boolean ask(PoolClaim claim, long now) {
        if (onTheirWay.incrementAndGet() > (long) settings.maxWaiting() + MOST_ON_THEIR_WAY) {
            onTheirWay.decrementAndGet();
            return false;
        }
        claim.cell = PoolClaim.ON_ITS_WAY;
        tellAll(claim, now);
        return true;
    }

    /** Counts permits that a claim holds already. */
    void restore(AwaitedClaim claim) {
        tell(() -> {
            shutOpen(); // The scheduler does not count open permits.
            if (closing) {
                refuse(claim, RefusalReason.DRAINING);
            } else if (scheduler.inFlight() + (long) claim.permits() > PoolSettings.MAX_PERMITS
                    || restored + claim.permits() > settings.permits()
                    || !scheduler.canEverFitBeside(claim.tenant(), claim.permits())) {
                refuse(claim, RefusalReason.TOO_LARGE);
            } else if (claim.accept()) {
                restored += claim.permits();
                scheduler.restore(claim, round);
                granted(claim);
            }
        });
    }

    /** Has the drain look at the claim, because its state has changed. */
    void look(PoolClaim claim) {
        tellAll(claim, UNKNOWN);
    }

    /**
     * Makes sure that the hold of an open permit ends in time. When the timer rings, the drain finds the claims that are still
     * in their cells. If this claim is no longer there, or the timer does not ring by {@code holdUntil}, it needs a command.
     */
    void boundHold(TimedClaim claim) {
        OpenPermits from = claim.from;
        if (from == null || !from.has(claim) || claim.holdUntil < deadlines.ringsAt()) {
            tell(() -> watchHold(claim));
        }
    }

    void tellGranted(PoolClaim claim, long waitedNanos) {
        if (heard) {
            listener.granted(claim.tenant(), claim.permits(), waitedNanos);
        }
    }

    void tellReleased(PoolClaim claim) {
        if (heard) {
            listener.released(claim.tenant(), claim.permits(), now() - claim.since);
        }
    }

    // ---- the drain: one thread at a time ----

    private void tell(Runnable what) {
        tellAll(what, UNKNOWN);
    }

    private void tellAll(Object what, long now) {
        if (newsCount.compareAndSet(0, 1)) {
            // The drain is idle and its queue is empty, so the command can be executed without the queue.
            round = now == UNKNOWN ? now() : now;
            doOne(what, hear);
            drain(1);
        } else {
            news.offer(what);
            if (newsCount.getAndIncrement() == 0) {
                round = now();
                drain(1);
            }
        }
        sendHome();
    }

    private void drain(int told) {
        int seen = told;
        while (true) {
            boolean more = step(news, hear);
            handOut();
            if (closing && scheduler.waiting() == 0 && scheduler.inFlight() == 0) {
                patience.dispose();
                deadlines.stopTimer();
                ready.offer((Runnable) idle::tryEmitEmpty);
            }
            if (more && handOver(this::drainOn)) {
                return;
            }
            seen = more ? startAgain(newsCount) : newsCount.addAndGet(-seen);
            if (seen == 0) {
                return;
            }
            round = now();
        }
    }

    /** Continues the drain that another thread has handed over. */
    private void drainOn() {
        round = now();
        drain(startAgain(newsCount));
    }

    private void hear(Object what) {
        if (what instanceof PoolClaim claim) {
            reconcile(claim);
        } else {
            ((Runnable) what).run();
        }
    }

    private void handOut() {
        try {
            endWhatIsDue();
            do {
                scheduler.grant(round, granted);
                // Permits may have been collected for a claim that was refused; the others get them now.
            } while (refuseWhoCannotWait());
            openWhenCalm();
            deadlines.setTimer(Math.min(firstOpen, scheduler.nextEndOfCollection()), round);
        } catch (RuntimeException | Error e) {
            GuardedListener.drop(e);
        }
    }

    /** Brings the scheduler into agreement with the state of the claim. */
    private void reconcile(PoolClaim claim) {
        if (claim.cell == PoolClaim.ON_ITS_WAY) {
            claim.cell = 0;
            onTheirWay.decrementAndGet();
        }
        boolean over = claim.isOver();
        if (over) {
            forget(claim);
        }
        if (over && claim.isHolding()) {
            scheduler.release(claim, round);
            if (claim instanceof HeldClaim && heard) {
                ready.offer((Runnable) () -> tellReleased(claim));
            }
        } else if (over && claim.isWaiting()) {
            scheduler.cancel(claim, round);
        } else if (!over && claim.isNew()) {
            admit(claim);
        }
    }

    private void admit(PoolClaim claim) {
        shutOpen();
        if (mustAsk(claim)) {
            calm = 0;
        }
        if (closing) {
            refuse(claim, RefusalReason.DRAINING);
        } else if (!scheduler.canEverFit(claim)) {
            refuse(claim, RefusalReason.TOO_LARGE);
        } else {
            scheduler.enqueue(claim, round);
            arrived.add(claim);
        }
    }

    private void granted(Claim claim) {
        ready.offer(claim);
        if (claim instanceof TimedClaim timed) {
            deadlines.set(timed, endOfHold(timed));
        }
    }

    /**
     * Refuses claims that are over a bound of waiting claims. Runs after the grants, so that a bound of 0 still admits claims
     * that need not wait.
     *
     * @return whether a claim was refused
     */
    private boolean refuseWhoCannotWait() {
        int before = scheduler.waiting();
        for (PoolClaim claim : arrived) {
            if (claim instanceof HeldClaim && claim.isWaiting()) {
                takeOut(claim, RefusalReason.MAX_WAIT);
            }
            Claim over = scheduler.overOwnBound(claim);
            if (over != null) {
                takeOut(over, RefusalReason.TENANT_QUEUE_FULL);
            }
            if (claim.isWaiting() && claim instanceof TimedClaim timed) {
                deadlines.set(timed, timed.waitUntil());
            }
        }
        arrived.clear();
        int bound = settings.maxWaiting();
        for (Claim over = scheduler.overPoolBound(bound); over != null; over = scheduler.overPoolBound(bound)) {
            takeOut(over, RefusalReason.POOL_QUEUE_FULL);
        }
        return scheduler.waiting() < before;
    }

    private void refuseAllWaiting() {
        for (Claim over = scheduler.overPoolBound(0); over != null; over = scheduler.overPoolBound(0)) {
            takeOut(over, RefusalReason.DRAINING);
        }
    }

    private void takeOut(Claim claim, RefusalReason reason) {
        scheduler.cancel(claim, round);
        forget((PoolClaim) claim);
        refuse((PoolClaim) claim, reason);
    }

    private void refuse(PoolClaim claim, RefusalReason reason) {
        if (claim.refuse(reason)) {
            ready.offer(claim);
        }
    }

    // ---- deadlines ----

    /** Ends waits and holds that are due. Runs before the grants: a claim that has waited for too long gets no permit. */
    private void endWhatIsDue() {
        TimedClaim claim = deadlines.due(round);
        for (int i = 0; i < BATCH && claim != null; i++) {
            if (claim.isWaiting()) {
                takeOut(claim, scheduler.waitsForOwnCap(claim) ? RefusalReason.TENANT_CAP : RefusalReason.MAX_WAIT);
            } else {
                // Its event loop cancels the work. If the work is only starting there, the next deadline tries again.
                deadlines.set(claim, endOfHold(claim));
                expire(claim);
            }
            claim = deadlines.due(round);
        }
    }

    private void expire(TimedClaim claim) {
        claim.isHoldOver = true;
        ready.offer(claim);
    }

    private long endOfHold(TimedClaim claim) {
        long maxHold = claim.maxHoldNanos();
        return maxHold == Deadlines.NEVER ? Deadlines.NEVER : round + maxHold;
    }

    private void forget(PoolClaim claim) {
        if (claim instanceof TimedClaim timed) {
            deadlines.remove(timed);
        }
    }

    /** The timer has rung: ends the holds of open permits that are due, and finds the next one. */
    private void rang() {
        deadlines.rang();
        firstOpen = Deadlines.NEVER;
        open.forEachTaken(claim -> {
            if (claim instanceof TimedClaim timed && timed.holdUntil <= round) {
                expire(timed);
            } else if (claim instanceof TimedClaim timed) {
                firstOpen = Math.min(firstOpen, timed.holdUntil);
            }
        });
    }

    /** Notes the end of the hold of an open permit; meanwhile the scheduler may have come to count that permit. */
    private void watchHold(TimedClaim claim) {
        if (claim.isHolding()) {
            deadlines.set(claim, claim.holdUntil);
        } else if (!claim.isOver()) {
            firstOpen = Math.min(firstOpen, claim.holdUntil);
        }
    }

    // ---- the fast path ----

    /** Closes the fast path: from here on the scheduler grants every permit. */
    private void shutOpen() {
        scheduler.takeBack(open.shutAll(adopt));
        firstOpen = Deadlines.NEVER;
    }

    private void adopt(PoolClaim claim) {
        scheduler.adopt(claim, heard ? claim.since : round, round);
        if (claim instanceof TimedClaim timed) {
            deadlines.set(timed, Math.min(timed.holdUntil, endOfHold(timed)));
        }
    }

    private void openWhenCalm() {
        if (closing || scheduler.waiting() > 0) {
            calm = 0;
        } else if (calm < Math.max(CALM, open.size())) {
            calm++;
        } else {
            open.open(scheduler.lend(open.shut()));
        }
    }

    // ---- the dispatch: resumes claims on their event loops, outside the drain ----

    private void sendHome() {
        if (!ready.isEmpty() && readyCount.getAndIncrement() == 0) {
            dispatch(1);
        }
    }

    private void dispatch(int told) {
        int seen = told;
        do {
            boolean more = step(ready, send);
            if (more && handOver(() -> dispatch(startAgain(readyCount)))) {
                return;
            }
            seen = more ? startAgain(readyCount) : readyCount.addAndGet(-seen);
        } while (seen != 0);
    }

    private void send(Object what) {
        if (what instanceof PoolClaim claim) {
            claim.goHome();
        } else {
            ((Runnable) what).run();
        }
    }

    // ---- the two loops ----

    /** Executes up to a batch of commands; true when there may be more. A command that throws is a bug; the others go on. */
    private static boolean step(Queue<Object> queue, Consumer<Object> action) {
        for (int i = 0; i < BATCH; i++) {
            Object next = queue.poll();
            if (next == null) {
                return false;
            }
            doOne(next, action);
        }
        return true;
    }

    private static void doOne(Object what, Consumer<Object> action) {
        try {
            action.accept(what);
        } catch (RuntimeException | Error e) {
            GuardedListener.drop(e);
        }
    }

    /**
     * Sets the count to 1, and the loop goes through the queue again: all that was counted is in there. Otherwise the count
     * would overflow in a loop that never ends.
     */
    private static int startAgain(AtomicInteger count) {
        count.addAndGet(1 - count.get());
        return 1;
    }

    /** Continues a loop on another thread; false when the scheduler is shut down. */
    private boolean handOver(Runnable loop) {
        try {
            Runnable on = () -> {
                loop.run();
                sendHome();
            };
            var unused = time.schedule(on, 0, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException shutDown) {
            return false;
        }
    }
}
