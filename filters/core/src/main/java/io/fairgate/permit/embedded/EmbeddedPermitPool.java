package io.fairgate.permit.embedded;

import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.HeldPermits;

import io.fairgate.fairness.Claim;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolTotals;
import io.fairgate.fairness.TenantShares;
import io.fairgate.fairness.TenantStanding;
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
 * A pool inside this process.
 *
 * <p><b>While nobody waits</b>, permits lie open ({@link OpenPermits}): who needs one takes it and puts it back, and
 * neither the scheduler nor another thread has to do with it.
 *
 * <p><b>Otherwise</b> whoever has news (a new claim, a cancellation, permits given back) puts it into {@link #news} and
 * calls {@link #drain}. One thread at a time works the news off; the others have left already, so no thread ever waits for
 * another. That makes the scheduler plain single-threaded code. News is not an instruction: a claim in the queue only
 * means "look at me again", and the drain brings the scheduler into agreement with the claim's state. Telling it twice
 * changes nothing, which is what makes a double release impossible.
 *
 * <p>What was granted goes to {@link #ready}, and is handed to the waiters' executors by a loop of its own: code of the
 * user never runs inside the drain, and a work that completes at once and thereby grants the next one does not nest. Both
 * loops hand over to the pool's scheduler after {@link #BATCH} steps: no thread works for the others for long.
 */
public final class EmbeddedPermitPool implements PermitPool {

    /** Claims beyond those that may wait that can be on their way to the drain. */
    private static final int MOST_ON_THEIR_WAY = 10_000;
    /** Steps after which a loop lets another thread go on. */
    private static final int BATCH = 256;
    /** A time that the caller has not read off the clock. */
    static final long UNKNOWN = -1;
    /** For so many drains nobody must have waited before permits lie open again: opening and shutting costs a little. */
    private static final int CALM = 64;

    private final String name;
    private final Scheduler time;
    /** Times are counted from here. */
    private final long origin;

    private final PoolListener listener;
    private final boolean heard;

    /** A {@link PoolClaim} to look at, or something to run. */
    private final Queue<Object> news = Queues.unboundedMultiproducer().get();

    private final AtomicInteger newsCount = new AtomicInteger();
    /** Claims that ask and that the drain has not seen yet: who adds to them is faster than who works them off. */
    private final AtomicInteger onTheirWay = new AtomicInteger();
    /** A {@link PoolClaim} to send home, or something to run. Only the drain adds to it, and one dispatch takes from it. */
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

    // Below: only the thread that drains.
    private final FairScheduler scheduler;
    private final List<PoolClaim> arrived = new ArrayList<>();
    private int calm = Integer.MAX_VALUE;
    private boolean closing;
    /** How many permits were restored, those that have come back included. */
    private long restored;
    /** The time of this round: read once, because that takes as long as a grant. */
    private long round;
    /** When the first of those that hold an open permit has to give it back, as far as it has to be seen to. */
    private long firstOpen = Deadlines.NEVER;

    private Disposable patience = Disposables.disposed();

    /** A pool for production: monotonic time, nobody listens. */
    public EmbeddedPermitPool(String name, PoolSettings settings, TenantShares shares) {
        this(name, settings, shares, MonotonicScheduler.INSTANCE, PoolListener.NONE);
    }

    /**
     * @param time the clock and the timers; must be monotonic, as {@link MonotonicScheduler} and virtual time are
     * @throws IllegalArgumentException when the tenants reserve more permits than there are, or their calculator says less than
     *     1
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
            // What is known so far is worked off first, or there would be free permits and somebody who waits.
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
            // The drain may be busy, and who comes after this must not find a permit that lies open still.
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

    /**
     * Changes size, bounds and shares while they are in use. Permits held and places in the queue stay; how far each
     * tenant is ahead or behind stays. Takes effect at once unless another thread is at work in the pool, then soon.
     *
     * @throws IllegalArgumentException when the tenants reserve more permits than there are, or their calculator says less than
     *     1; nothing is changed then
     */
    public void reconfigure(PoolSettings settings, TenantShares shares) {
        shares.requireFit(settings.permits());
        tell(() -> {
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
        });
    }

    // ---- for the claims ----

    /** In nanoseconds since the pool was made. */
    long now() {
        return time.now(TimeUnit.NANOSECONDS) - origin;
    }

    /** The time when permits are taken, as far as somebody wants to hear of it: reading a clock takes as long as taking. */
    long timeOfTaking() {
        return heard ? now() : UNKNOWN;
    }

    /** How long the request may wait. */
    long maxWaitNanos(PermitRequest request) {
        return (request.maxWait() == null ? settings.maxWait() : request.maxWait()).toNanos();
    }

    Scheduler time() {
        return time;
    }

    PoolListener listener() {
        return listener;
    }

    /** Takes one of the permits that lie open; true when the claim holds it now. */
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

    /** What only the scheduler can decide. */
    private boolean mustAsk(PoolClaim claim) {
        return claim.permits() != 1 || !unasked.includes(claim.tenant());
    }

    /** Has the permits of a claim that is over back, if it held any. */
    void giveBack(PoolClaim claim) {
        OpenPermits from = claim.from;
        if (from == null || !from.giveBack(claim)) {
            look(claim);
        }
    }

    /**
     * Asks the scheduler for permits.
     *
     * @param now what time it is, or {@link #UNKNOWN}
     * @return false when so many ask that this one cannot even be looked at
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

    /** Counts what a claim holds already. */
    void restore(AwaitedClaim claim) {
        tell(() -> {
            shutOpen(); // What lies open is nobody's in the eyes of the scheduler.
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

    /** Has the claim looked at: its state has changed. */
    void look(PoolClaim claim) {
        tellAll(claim, UNKNOWN);
    }

    /**
     * Has the hold of an open permit end when it is to end. As long as the claim is in its cell, the drain sees it there
     * when the timer rings, which it may do in time already; otherwise the drain has to be told.
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
            // Nobody is at work and nothing is in the queue: there is no need to go through it.
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

    /** Goes on where another thread has left off. */
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
                // Who has to leave may have been what others waited for.
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
     * After the grants, so that a bound of 0 still lets pass what need not wait.
     *
     * @return whether somebody had to leave
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

    // ---- what is over when its time is up ----

    /** Before the grants: nobody gets a permit when it has waited for too long. */
    private void endWhatIsDue() {
        TimedClaim claim = deadlines.due(round);
        for (int i = 0; i < BATCH && claim != null; i++) {
            if (claim.isWaiting()) {
                takeOut(claim, scheduler.waitsForOwnCap(claim) ? RefusalReason.TENANT_CAP : RefusalReason.MAX_WAIT);
            } else {
                // Its work is cancelled at home. Should it only be starting there, this is for the next time.
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

    /** The timer has rung: also who holds an open permit may have to give it back. */
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

    /** It is known now when an open permit is to come back; by now the permit may be the scheduler's. */
    private void watchHold(TimedClaim claim) {
        if (claim.isHolding()) {
            deadlines.set(claim, claim.holdUntil);
        } else if (!claim.isOver()) {
            firstOpen = Math.min(firstOpen, claim.holdUntil);
        }
    }

    // ---- permits that lie open ----

    /** From here on every permit is the scheduler's to give. */
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

    // ---- the dispatch: hands waiters to their executors, outside the drain ----

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

    /** Takes up to a batch out of the queue; true when there may be more. What throws is a bug, and the others go on. */
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

    /** What was counted is in the queue, which is looked at again; without this a loop that never ends would overflow. */
    private static int startAgain(AtomicInteger count) {
        count.addAndGet(1 - count.get());
        return 1;
    }

    /** Lets another thread go on with the loop that this one is in; false when nobody can. */
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
