package io.fairgate.permit.embedded;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * Permits that a subscriber waits for and then holds: the subscription, the claim and the handle in one object, because a
 * hundred thousand of them may exist for hours.
 *
 * <pre>
 *   WAITING ──drain, or an open permit──▶ GRANTED ──on loop, and requested──▶ HELD ──release, or held for too long──▶ RELEASED
 *      │                                    ├──max-wait is up before the handover──▶ RELEASED
 *      ├──drain──▶ REFUSED ──on loop──▶ TOLD └──cancel, or not requested within max-hold──▶ CANCELLED, RELEASED
 *      └──cancel──▶ CANCELLED
 * </pre>
 *
 * <p>{@code loop} is the request's event loop ({@link PermitRequest#home}).
 */
final class AwaitedClaim extends TimedClaim implements Subscription, HeldPermits, Runnable {

    private static final int WAITING = 0;
    private static final int GRANTED = 1;
    private static final int HELD = 2;
    // From here on isOver() is true.
    private static final int RELEASED = 3;
    private static final int CANCELLED = 4;
    private static final int REFUSED = 5;
    private static final int TOLD = 6;

    private static final AtomicIntegerFieldUpdater<AwaitedClaim> STATE =
            AtomicIntegerFieldUpdater.newUpdater(AwaitedClaim.class, "state");

    private final EmbeddedPermitPool pool;
    private final CoreSubscriber<? super HeldPermits> actual;
    private final @Nullable Executor home;
    private final @Nullable Duration maxHold;

    private volatile int state = WAITING;
    private volatile boolean requested;
    /** Whether the claim has reached its event loop within the maximum wait. */
    private volatile boolean isHome;

    private long askedAt;
    private long waitUntil;

    /** Written by the drain before it hands the claim to the dispatch. */
    private @Nullable RefusalReason refusal;

    AwaitedClaim(EmbeddedPermitPool pool, PermitRequest request, CoreSubscriber<? super HeldPermits> actual) {
        super(request);
        this.pool = pool;
        this.actual = actual;
        this.home = request.home();
        this.maxHold = request.maxHold();
    }

    /** Takes an open permit, or submits the claim to the pool and calls {@code onWaiting} if it has to wait. */
    void start(PermitRequest request) {
        askedAt = pool.now();
        since = askedAt;
        waitUntil = askedAt + pool.maxWaitNanos(request);
        actual.onSubscribe(this);
        if (state != WAITING) {
            return;
        }
        if (pool.takeOpen(this)) {
            if (STATE.compareAndSet(this, WAITING, GRANTED)) {
                goHome();
            } else {
                pool.giveBack(this);
            }
            return;
        }
        if (!pool.ask(this, askedAt) && refuse(RefusalReason.POOL_QUEUE_FULL)) {
            goHome();
        }
        if (state == WAITING && request.onWaiting() != null) {
            GuardedListener.guard(request.onWaiting());
        }
    }

    /** Starts with permits that are held already: it waits only for the drain. */
    void startRestored() {
        askedAt = pool.now();
        since = askedAt;
        waitUntil = Deadlines.NEVER;
        actual.onSubscribe(this);
        if (state == WAITING) {
            pool.restore(this);
        }
    }

    // ---- used by the drain ----

    @Override
    protected boolean accept() {
        return STATE.compareAndSet(this, WAITING, GRANTED);
    }

    @Override
    boolean refuse(RefusalReason reason) {
        refusal = reason;
        return STATE.compareAndSet(this, WAITING, REFUSED);
    }

    @Override
    boolean isOver() {
        return state >= RELEASED;
    }

    @Override
    long waitUntil() {
        return waitUntil;
    }

    /** The longest hold that a pool allows, 365 days, counts as unbounded. */
    @Override
    long maxHoldNanos() {
        Duration most = maxHold();
        return most.compareTo(PoolSettings.MAX_DURATION) < 0 ? most.toNanos() : Deadlines.NEVER;
    }

    private Duration maxHold() {
        return maxHold == null ? pool.settings().maxHold() : maxHold;
    }

    // ---- on the request's event loop ----

    /** Resumes on the request's event loop. If that rejects the task, releases the permits and emits the error. */
    @Override
    void goHome() {
        try {
            if (home != null) {
                home.execute(this);
            } else if (from != null && !isHome) {
                run(); // An open permit: it did not wait, and this is the subscribing thread.
            } else {
                var unused = pool.time().schedule(this);
            }
        } catch (RuntimeException | Error e) {
            if (STATE.compareAndSet(this, GRANTED, RELEASED)) {
                pool.giveBack(this);
                actual.onError(e);
            } else {
                run();
            }
        }
    }

    /** Acts on what the drain has decided: hands the permits over, reports a refusal, or ends a hold. */
    @Override
    public void run() {
        switch (state) {
            case REFUSED -> {
                if (STATE.compareAndSet(this, REFUSED, TOLD)) {
                    tellRefused(refusal == null ? RefusalReason.MAX_WAIT : refusal);
                }
            }
            case GRANTED -> {
                if (isHoldOver) {
                    giveUp();
                } else {
                    arrive();
                }
            }
            case HELD -> {
                if (isHoldOver) {
                    release();
                }
            }
            default -> {
                // It has ended meanwhile, and the thread that ended it has done everything.
            }
        }
    }

    private void arrive() {
        long now = pool.now();
        if (!isHome && now > waitUntil) {
            if (STATE.compareAndSet(this, GRANTED, RELEASED)) {
                pool.giveBack(this);
                tellRefused(RefusalReason.MAX_WAIT);
            }
            return;
        }
        if (!isHome) {
            isHome = true;
            if (from == null) {
                since = now; // An open permit has been held since the request.
            }
            boundHold(now);
        }
        handOver(now);
    }

    /** Bounds the hold of an open permit: only this claim knows when it began. */
    private void boundHold(long now) {
        long most = maxHoldNanos();
        if (from != null && most != Deadlines.NEVER) {
            holdUntil = now + most;
            pool.boundHold(this);
        }
    }

    private void handOver(long now) {
        if (requested && STATE.compareAndSet(this, GRANTED, HELD)) {
            pool.tellGranted(this, now - askedAt);
            actual.onNext(this);
            actual.onComplete();
        }
    }

    /** Ends a hold whose handle was never requested. */
    private void giveUp() {
        if (STATE.compareAndSet(this, GRANTED, RELEASED)) {
            pool.giveBack(this);
            actual.onError(new HoldExpiredException(pool.name(), maxHold()));
        }
    }

    private void tellRefused(RefusalReason reason) {
        long waited = pool.now() - askedAt;
        pool.listener().refused(tenant(), reason, waited);
        actual.onError(new PermitRefusedException(pool.name(), tenant(), reason, Duration.ofNanos(waited)));
    }

    // ---- the subscriber ----

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            requested = true;
            if (state == GRANTED && isHome) {
                goHome();
            }
        }
    }

    /** Does nothing after the permits were handed over: then only the holder releases them. */
    @Override
    public void cancel() {
        if (STATE.compareAndSet(this, WAITING, CANCELLED) || STATE.compareAndSet(this, GRANTED, CANCELLED)) {
            pool.listener().abandoned(tenant(), pool.now() - askedAt);
            pool.giveBack(this);
        }
    }

    // ---- the holder ----

    @Override
    public boolean isHeld() {
        return state == HELD;
    }

    @Override
    public void release() {
        if (STATE.compareAndSet(this, HELD, RELEASED)) {
            pool.giveBack(this);
            pool.tellReleased(this);
        }
    }
}
