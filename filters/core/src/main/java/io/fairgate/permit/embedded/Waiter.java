package io.fairgate.permit.embedded;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * One request for permits, from its arrival until it has given them back: its place in the scheduler's queue, its slot in the
 * fast path, its deadlines, and its one {@link State}. What it does with its permits is its {@link Acquisition}; where that is
 * to hand them to the caller, this is also the handle.
 *
 * <p>The thread that ends a request has the pool take back what it had granted. All this is one state and not three operators,
 * because a permit that is passed as an element between operators can be lost on cancellation (reactor-core issue 3695).
 */
final class Waiter extends QueuedRequest implements HeldPermits, PoolRequest, Runnable {

    private static final RefusalReason[] REASONS = RefusalReason.values();
    private static final AtomicIntegerFieldUpdater<Waiter> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Waiter.class, "state");

    private final EmbeddedPermitPool pool;
    private final Acquisition acquisition;
    private final @Nullable Executor eventLoop;
    private final @Nullable Duration maxHold;

    private volatile int state;
    /** Its place in {@link Deadlines}; only for the drain. */
    int placeByTime = Deadlines.NOWHERE;
    /** The index of its slot, written before it takes that slot; {@link Slots#NONE} when the scheduler grants its permits. */
    short slot = Slots.NONE;
    /** Whether it counts in the bound of submitted requests. */
    boolean isSubmitted;
    /** Whether its permits are those of a holder from before a restart. */
    private boolean isRestored;
    /** Set by the drain; the event loop then ends the hold. */
    volatile boolean isHoldOver;

    /** By the pool's clock, as all its times; {@link EmbeddedPermitPool#UNKNOWN} when the clock was not read. */
    long askedAt;
    /** The latest time for it to begin, and once it has begun, when it did. */
    long begins;
    /** The end of the hold of a slot; 0 before it is known. For other holds the drain sets the deadline itself. */
    private volatile long holdUntil;

    /** Of the listener of the pool. */
    private @Nullable Object attachment;

    Waiter(EmbeddedPermitPool pool, Acquisition acquisition, PermitRequest request, long askedAt) {
        super(request.tenant(), request.requestClass(), request.permits());
        this.pool = pool;
        this.acquisition = acquisition;
        this.eventLoop = request.eventLoop();
        this.maxHold = request.maxHold();
        this.askedAt = askedAt;
    }

    /** Takes a slot, or submits the request and calls {@code onWaiting} if it has to wait. */
    void ask(PermitRequest request) {
        if (state != State.WAITING) {
            return;
        }
        if (!pool.fastPath.take(this)) {
            submit(request);
        } else if (eventLoop == null) {
            begins = askedAt;
            acquisition.begin(State.WAITING);
        } else {
            begins = askedAt + pool.maxWaitNanos(request);
            if (advance(State.WAITING, State.GRANTED)) {
                resume();
            }
        }
    }

    private void submit(PermitRequest request) {
        if (askedAt == EmbeddedPermitPool.UNKNOWN) {
            askedAt = pool.now();
        }
        begins = askedAt + pool.maxWaitNanos(request);
        if (!pool.drain.submit(this, askedAt) && refuse(RefusalReason.POOL_QUEUE_FULL)) {
            resume();
        }
        if (state == State.WAITING && request.onWaiting() != null) {
            Guard.run(request.onWaiting());
        }
    }

    /** Takes the permits if they can be granted at once; otherwise the request is over. */
    boolean takeAtOnce() {
        begins = askedAt;
        if (pool.fastPath.take(this)) {
            // No other thread uses it yet, except the drain, which may be counting it just now.
            STATE.lazySet(this, State.RUNNING);
        } else {
            // Where the slice ends at some time, the drain must know the time of now.
            var unused = pool.drain.submit(this, pool.slice.isUnending() ? askedAt : EmbeddedPermitPool.UNKNOWN);
            if (move(State.WAITING, State.CANCELLED) || !move(State.GRANTED, State.RUNNING)) {
                return false;
            }
        }
        reportGranted();
        return true;
    }

    void restore() {
        begins = Deadlines.NEVER;
        isRestored = true;
        pool.drain.restore(this);
    }

    /** Reads before it compares and sets: a compare-and-set that fails takes as long as one that does not. */
    boolean move(int from, int to) {
        return state == from && STATE.compareAndSet(this, from, to);
    }

    int state() {
        return state;
    }

    boolean isOver() {
        return state >= State.DONE;
    }

    boolean isImmediate() {
        return acquisition == Acquisition.IMMEDIATE;
    }

    @Override
    protected boolean accept() {
        return move(State.WAITING, State.GRANTED);
    }

    /** By the drain, or by the subscribing thread when too many requests were submitted. */
    @SuppressWarnings("EnumOrdinal") // The number is not kept anywhere, and REASONS has the same order.
    boolean refuse(RefusalReason reason) {
        return move(State.WAITING, State.REFUSED + reason.ordinal());
    }

    /** By the drain. */
    boolean lose() {
        return move(State.WAITING, State.LOST);
    }

    /** Moves a request that has its permits; if it has been cancelled meanwhile, gives them back. */
    boolean advance(int from, int to) {
        boolean first = move(from, to);
        if (!first) {
            giveBack();
        }
        return first;
    }

    /** Ends a request that has not begun. */
    boolean cancel() {
        boolean first = move(State.WAITING, State.CANCELLED)
                || move(State.GRANTED, State.CANCELLED)
                || move(State.OFFERED, State.CANCELLED);
        if (first) {
            pool.report(listener -> listener.abandoned(this, pool.now() - askedAt));
            giveBack();
        }
        return first;
    }

    /** Has the pool take back the permits of a request that is over, if it held any. Twice is no more than once. */
    void giveBack() {
        if (!pool.fastPath.giveBack(this)) {
            pool.drain.look(this);
        }
    }

    /** Resumes on the event loop. If that rejects the task, the request does not begin, and what is left runs on this thread. */
    void resume() {
        try {
            if (eventLoop != null) {
                eventLoop.execute(this);
            } else {
                var unused = pool.time.schedule(this);
            }
        } catch (RuntimeException | Error e) {
            if (move(State.GRANTED, State.DONE) || move(State.OFFERED, State.DONE)) {
                giveBack();
                acquisition.fail(e);
            } else {
                run();
            }
        }
    }

    /** Acts on what the drain has decided. May come twice: an event loop may run a task and then throw. */
    @Override
    public void run() {
        int now = state;
        if (now == State.GRANTED) {
            arrive();
        } else if (now < State.DONE) {
            acquisition.resumed();
        } else if (now == State.LOST && move(now, State.REPORTED)) {
            failLost();
        } else if (now >= State.REFUSED && move(now, State.REPORTED)) {
            failRefused(REASONS[now - State.REFUSED]);
        }
    }

    private void arrive() {
        long now = pool.now();
        if (isTooLate(now)) {
            endUnused(State.GRANTED, this::failLost);
        } else if (now > begins) {
            endUnused(State.GRANTED, () -> failRefused(RefusalReason.MAX_WAIT));
        } else {
            begins = now;
            acquisition.begin(State.GRANTED);
        }
    }

    /** Whether the slice of this process has ended. Restored permits are in use already. */
    private boolean isTooLate(long now) {
        return pool.slice.hasEnded(now) && !isRestored;
    }

    /** Whether the slice of this process has ended before the handle was handed over; it is not handed over then. */
    boolean hasComeTooLate() {
        boolean late = !pool.slice.isUnending() && isTooLate(pool.now());
        if (late) {
            endUnused(State.OFFERED, this::failLost);
        }
        return late;
    }

    private void endUnused(int from, Runnable then) {
        if (move(from, State.DONE)) {
            giveBack();
            then.run();
        }
    }

    private void failLost() {
        pool.report(listener -> listener.lost(this, pool.now() - askedAt));
        acquisition.fail(new PoolUnavailableException(pool.name(), null));
    }

    private void failRefused(RefusalReason reason) {
        long waited = pool.now() - askedAt;
        pool.report(listener -> listener.refused(this, reason, waited));
        acquisition.fail(new PermitRefusedException(pool.name(), tenant(), reason, Duration.ofNanos(waited)));
    }

    /** For the scheduler: since when it has held a slot. Without a listener it may not have read the clock. */
    long heldSince(long now) {
        return pool.hasListener ? askedAt : now;
    }

    /** The end of the hold of a slot; {@link Deadlines#NEVER} before it is known. */
    long holdUntil() {
        long until = holdUntil;
        return until == 0 ? Deadlines.NEVER : until;
    }

    /** The end of a hold that begins at that time. The longest that a pool allows, 365 days, counts as unbounded. */
    long endOfHold(long begin) {
        Duration most = maxHold();
        boolean isBounded = !isImmediate() && most.compareTo(PoolSettings.MAX_DURATION) < 0;
        return isBounded ? begin + most.toNanos() : Deadlines.NEVER;
    }

    private Duration maxHold() {
        return Objects.requireNonNullElse(maxHold, pool.settings().maxHold());
    }

    /** Bounds the hold of a slot: only this request knows when it began. */
    void boundHold() {
        if (slot != Slots.NONE) {
            long until = endOfHold(begins == EmbeddedPermitPool.UNKNOWN ? pool.now() : begins);
            if (until != Deadlines.NEVER) {
                holdUntil = until;
                pool.drain.watchHold(this);
            }
        }
    }

    HoldExpiredException holdExpired() {
        return new HoldExpiredException(pool.name(), maxHold());
    }

    @Override
    public boolean isHeld() {
        return state == State.RUNNING;
    }

    /**
     * Puts the permit back into its slot. If the slot was shut, the scheduler counts the permit, and the drain must look. Of
     * two concurrent calls the later one may also make the drain look, which then finds nothing to release.
     */
    @Override
    public void release() {
        if (pool.fastPath.giveBack(this)) {
            STATE.lazySet(this, State.RELEASED);
            reportReleased();
        } else if (move(State.RUNNING, State.RELEASED)) {
            pool.drain.look(this);
        }
    }

    @Override
    public ContextView context() {
        return acquisition.currentContext();
    }

    @Override
    public void attach(Object attachment) {
        this.attachment = attachment;
    }

    @Override
    public @Nullable Object attachment() {
        return attachment;
    }

    void reportGranted() {
        if (pool.hasListener) {
            pool.report(listener -> listener.granted(this, begins - askedAt));
        }
    }

    boolean hasListener() {
        return pool.hasListener;
    }

    void reportReleased() {
        if (pool.hasListener) {
            pool.report(listener -> listener.released(this, pool.now() - begins));
        }
    }
}
