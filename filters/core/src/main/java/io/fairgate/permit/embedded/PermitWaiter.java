package io.fairgate.permit.embedded;

import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One subscription to {@link PermitPool#withPermit}: the subscriber of the work, the subscription of the caller, and
 * the claim in the scheduler's queue, with one state that only moves by compare-and-set:
 *
 * <pre>
 *   WAITING ──drain──▶ GRANTED ──loop──▶ STARTING ──▶ RUNNING ──complete──▶ DONE
 *      │  └──drain, also when     │  │        │  │        └──error, cancel, hold expired──▶ SETTLING ──▶ DONE
 *      │     max-wait is up──▶ REFUSED        │  └──cancel──▶ LEAVING ──▶ SETTLING ──▶ DONE
 *      └──cancel──▶ CANCELLED     │  │        └──complete, or error──▶ as when RUNNING
 *                                 │  └──max-wait is up before the start──▶ DONE
 *                                 └──cancel──▶ CANCELLED
 * </pre>
 *
 * <p>{@code loop} is the request's event loop ({@link PermitRequest#home}).
 *
 * <p>STARTING lasts while the work is being subscribed. A cancellation in this time leads to LEAVING. Of the two events that
 * must follow, the first leads to CUT_SHORT (the work has been cancelled) or SUBSCRIBED (the call of subscribe has returned),
 * and the second to SETTLING: before both have happened the work may still be doing something. SETTLING lasts until a work
 * that was cancelled or has failed has really ended ({@link PermitRequest#settled}).
 *
 * <p>The thread that makes the step to DONE or CANCELLED has the pool look at the waiter once, and the pool takes back what
 * it had granted. All this is one object and not three operators, because a permit that is passed as an element between
 * operators can be lost on cancellation (reactor-core issue 3695).
 */
abstract class PermitWaiter<T> extends DeferredClaim implements CoreSubscriber<T>, Runnable {

    private static final int WAITING = 0;
    private static final int GRANTED = 1;
    private static final int STARTING = 2;
    private static final int RUNNING = 3;
    private static final int LEAVING = 4;
    private static final int CUT_SHORT = 5;
    private static final int SUBSCRIBED = 6;
    private static final int SETTLING = 7;
    // From here on isOver() is true.
    private static final int DONE = 8;
    private static final int CANCELLED = 9;
    private static final int REFUSED = 10;
    private static final int TOLD = 11;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<PermitWaiter> STATE =
            AtomicIntegerFieldUpdater.newUpdater(PermitWaiter.class, "state");

    final CoreSubscriber<? super T> actual;
    private final EmbeddedPermitPool pool;
    private final PermitRequest request;
    private final Publisher<T> work;

    private volatile int state = WAITING;
    /** Whether the subscriber has cancelled: it gets no error signal any more. */
    private volatile boolean left;

    private volatile @Nullable Disposable settleTimer;
    private volatile @Nullable Disposable settling;
    private long askedAt;
    private long waitUntil;
    private long startedAt;

    /** Written by the drain before it hands the waiter to the dispatch. */
    private @Nullable RefusalReason refusal;

    PermitWaiter(EmbeddedPermitPool pool, PermitRequest request, Publisher<T> work, CoreSubscriber<? super T> actual) {
        super(request);
        this.pool = pool;
        this.request = request;
        this.work = work;
        this.actual = actual;
    }

    /** Takes an open permit, or submits the claim to the pool and calls {@code onWaiting} if it has to wait. */
    final void start() {
        Executor home = request.home();
        askedAt = home == null ? pool.timeOfTaking() : pool.now();
        since = askedAt;
        actual.onSubscribe(this);
        if (state != WAITING) {
            return;
        }
        if (pool.takeOpen(this)) {
            startWithOpenPermit(home);
        } else {
            ask();
        }
    }

    /** Starts on this thread, unless the request has an event loop to start on. */
    private void startWithOpenPermit(@Nullable Executor home) {
        boolean here = home == null;
        if (!STATE.compareAndSet(this, WAITING, here ? STARTING : GRANTED)) {
            pool.giveBack(this);
        } else if (here) {
            startedAt = askedAt;
            startWork();
        } else {
            waitUntil = askedAt + pool.maxWaitNanos(request);
            goHome();
        }
    }

    private void ask() {
        if (request.home() == null) {
            askedAt = pool.now();
        }
        waitUntil = askedAt + pool.maxWaitNanos(request);
        if (!pool.ask(this, askedAt) && refuse(RefusalReason.POOL_QUEUE_FULL)) {
            goHome();
        }
        if (state == WAITING && request.onWaiting() != null) {
            GuardedListener.guard(request.onWaiting());
        }
    }

    // ---- state transitions ----

    /** WAITING to GRANTED, by the drain. */
    @Override
    protected final boolean accept() {
        return STATE.compareAndSet(this, WAITING, GRANTED);
    }

    /** WAITING to REFUSED: by the drain, or by the subscribing thread when too many claims were submitted. */
    @Override
    final boolean refuse(RefusalReason reason) {
        refusal = reason;
        return STATE.compareAndSet(this, WAITING, REFUSED);
    }

    private void expireHold() {
        if (STATE.compareAndSet(this, RUNNING, SETTLING)) {
            cancelWork();
            tellError(new HoldExpiredException(pool.name(), maxHold()));
        }
    }

    @Override
    public final void cancel() {
        left = true;
        if (STATE.compareAndSet(this, WAITING, CANCELLED) || STATE.compareAndSet(this, GRANTED, CANCELLED)) {
            pool.listener().abandoned(tenant(), pool.now() - askedAt);
            pool.giveBack(this);
        } else if (STATE.compareAndSet(this, STARTING, LEAVING)) {
            GuardedListener.guard(this::cancelUpstream);
            leave(CUT_SHORT, SUBSCRIBED);
        } else if (STATE.compareAndSet(this, RUNNING, SETTLING)) {
            cancelWork();
        }
    }

    private void cancelWork() {
        GuardedListener.guard(this::cancelUpstream);
        settleCutShort();
    }

    private void settleCutShort() {
        discard();
        settle();
    }

    /** Discards an element that was kept for a subscriber that will not get it. */
    void discard() {}

    /** Gives the permits back when a work that was cancelled or has failed has really ended. */
    private void settle() {
        Mono<Void> settled = request.settled();
        if (settled == null) {
            giveBackWhenSettled();
        } else {
            settleTimer = settleAtTheLatest();
            settling = settled.subscribe(nothing -> {}, e -> giveBackWhenSettled(), this::giveBackWhenSettled);
            if (isOver()) {
                stop(settling);
            }
        }
    }

    /** Bounds the settling. Prefers a timer of the event loop: tasks that end the work are before it in the loop's queue. */
    private @Nullable Disposable settleAtTheLatest() {
        long nanos = Objects.requireNonNullElse(request.settleWithin(), PermitRequest.SETTLE_WITHIN)
                .toNanos();
        if (request.home() instanceof ScheduledExecutorService loop) {
            try {
                Future<?> timer = loop.schedule(this::giveBackWhenSettled, nanos, TimeUnit.NANOSECONDS);
                return () -> timer.cancel(false);
            } catch (RejectedExecutionException shutDown) {
                // Use the pool's timers instead.
            }
        }
        try {
            return pool.time().schedule(this::giveBackWhenSettled, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException shutDown) {
            // Without a timer, only the work's own settling gives the permits back.
            return null;
        }
    }

    private void giveBackWhenSettled() {
        if (STATE.compareAndSet(this, SETTLING, DONE)) {
            giveBack();
        }
    }

    /** To DONE, because the work has completed. Returns true when the permits are back and the signal may be passed on. */
    final boolean complete() {
        boolean first = end(DONE);
        if (first) {
            giveBack();
        }
        return first;
    }

    /** To the state {@code next} from STARTING or RUNNING; true only for the one signal that ends the work. */
    private boolean end(int next) {
        return STATE.compareAndSet(this, STARTING, next) || STATE.compareAndSet(this, RUNNING, next);
    }

    private void giveBack() {
        stop(settleTimer);
        stop(settling);
        pool.giveBack(this);
        since = startedAt;
        pool.tellReleased(this);
    }

    // ---- used by the drain ----

    @Override
    final boolean isOver() {
        return state >= DONE;
    }

    final boolean isRunning() {
        int now = state;
        return now == STARTING || now == RUNNING;
    }

    @Override
    final long waitUntil() {
        return waitUntil;
    }

    /** The longest hold that a pool allows, 365 days, counts as unbounded. */
    @Override
    final long maxHoldNanos() {
        Duration maxHold = maxHold();
        return maxHold.compareTo(PoolSettings.MAX_DURATION) < 0 ? maxHold.toNanos() : Deadlines.NEVER;
    }

    // ---- on the request's event loop ----

    /** Resumes on the request's event loop. If that rejects the task, resumes on this thread, and does not start the work. */
    @Override
    final void goHome() {
        try {
            atHome(this);
        } catch (RuntimeException | Error e) {
            if (STATE.compareAndSet(this, GRANTED, DONE)) {
                pool.giveBack(this);
                tellError(e);
            } else {
                run();
            }
        }
    }

    private void atHome(Runnable task) {
        if (request.home() != null) {
            request.home().execute(task);
        } else {
            var unused = pool.time().schedule(task);
        }
    }

    /** Acts on what the drain has decided: starts the work, reports a refusal, or ends a hold. */
    @Override
    public final void run() {
        switch (state) {
            case REFUSED -> tellRefusedOnce();
            case GRANTED -> startInTime();
            case RUNNING -> {
                if (isHoldOver) {
                    expireHold();
                }
            }
            default -> {
                // It has ended meanwhile, and the thread that ended it has done everything.
            }
        }
    }

    /** Once, because an event loop that runs a task and then throws makes it run twice. */
    private void tellRefusedOnce() {
        if (STATE.compareAndSet(this, REFUSED, TOLD)) {
            tellRefused(refusal == null ? RefusalReason.MAX_WAIT : refusal);
        }
    }

    private void startInTime() {
        startedAt = pool.now();
        if (startedAt > waitUntil) {
            if (STATE.compareAndSet(this, GRANTED, DONE)) {
                pool.giveBack(this);
                tellRefused(RefusalReason.MAX_WAIT);
            }
        } else if (STATE.compareAndSet(this, GRANTED, STARTING)) {
            startWork();
        }
    }

    private void startWork() {
        pool.tellGranted(this, startedAt - askedAt);
        try {
            work.subscribe(this);
            if (STATE.compareAndSet(this, STARTING, RUNNING) && from != null) {
                boundHold(maxHoldNanos());
            }
        } catch (RuntimeException | Error e) {
            GuardedListener.guard(this::cancelUpstream);
            onError(e);
        }
        leave(SUBSCRIBED, CUT_SHORT);
    }

    /** Called by the thread that cancels the work and by the one that subscribes it; the second one settles. */
    private void leave(int done, int doneByTheOther) {
        if (!STATE.compareAndSet(this, LEAVING, done) && STATE.compareAndSet(this, doneByTheOther, SETTLING)) {
            settleCutShort();
        }
    }

    private void tellRefused(RefusalReason reason) {
        long waited = pool.now() - askedAt;
        pool.listener().refused(tenant(), reason, waited);
        tellError(new PermitRefusedException(pool.name(), tenant(), reason, Duration.ofNanos(waited)));
    }

    private void tellError(Throwable error) {
        if (!left) {
            actual.onError(error);
        }
    }

    /** Bounds the hold of an open permit: only this waiter knows when it began. */
    private void boundHold(long maxHold) {
        if (maxHold != Deadlines.NEVER) {
            holdUntil = (startedAt == EmbeddedPermitPool.UNKNOWN ? pool.now() : startedAt) + maxHold;
            pool.boundHold(this);
        }
    }

    private Duration maxHold() {
        return Objects.requireNonNullElse(request.maxHold(), pool.settings().maxHold());
    }

    private static void stop(@Nullable Disposable timer) {
        if (timer != null) {
            timer.dispose();
        }
    }

    // ---- signals of the work ----

    @Override
    public final void onError(Throwable error) {
        if (end(SETTLING)) {
            settle();
            actual.onError(error);
        } else {
            Operators.onErrorDropped(error, currentContext());
        }
    }

    @Override
    public final Context currentContext() {
        return actual.currentContext();
    }
}
