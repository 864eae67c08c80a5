package io.fairgate.permit.embedded;

import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * Permits that somebody waits for and then has in hand: the subscription, the claim and the handle in one, because there
 * may be a hundred thousand of them for hours. That is also why it has over 250 lines.
 *
 * <pre>
 *   WAITING ──drain, or an open permit──▶ GRANTED ──at home, and requested──▶ HELD ──release, or held for too long──▶ RELEASED
 *      │                                    ├──its time was up on the way home──▶ RELEASED
 *      ├──drain──▶ REFUSED ──at home──▶ TOLD └──cancel, or never requested in its hold──▶ CANCELLED, RELEASED
 *      └──cancel──▶ CANCELLED
 * </pre>
 */
final class AwaitedClaim extends TimedClaim implements Subscription, HeldPermits, Runnable {

    private static final int WAITING = 0;
    private static final int GRANTED = 1;
    private static final int HELD = 2;
    // From here on it is over.
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
    /** The first step at home has been made, and was in time. */
    private volatile boolean isHome;

    private long askedAt;
    private long waitUntil;

    /** Only the thread that drains the pool, until it makes the claim ready. */
    private @Nullable RefusalReason refusal;

    AwaitedClaim(EmbeddedPermitPool pool, PermitRequest request, CoreSubscriber<? super HeldPermits> actual) {
        super(request);
        this.pool = pool;
        this.actual = actual;
        this.home = request.home();
        this.maxHold = request.maxHold();
    }

    /** The beginning: takes an open permit, or asks the pool, and if it has to wait, says so. */
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

    /** The beginning of permits that are held already: nothing is waited for but the drain. */
    void startRestored() {
        askedAt = pool.now();
        since = askedAt;
        waitUntil = Deadlines.NEVER;
        actual.onSubscribe(this);
        if (state == WAITING) {
            pool.restore(this);
        }
    }

    // ---- what the drain does and asks ----

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

    /** As long as a pool allows at most is as good as for ever. */
    @Override
    long maxHoldNanos() {
        Duration most = maxHold();
        return most.compareTo(PoolSettings.MAX_DURATION) < 0 ? most.toNanos() : Deadlines.NEVER;
    }

    private Duration maxHold() {
        return maxHold == null ? pool.settings().maxHold() : maxHold;
    }

    // ---- at home ----

    /** Continues on the request's executor; if that takes no more work, nothing is handed over. */
    @Override
    void goHome() {
        try {
            if (home != null) {
                home.execute(this);
            } else if (from != null && !isHome) {
                run(); // It need not wait, and nobody else's thread is involved.
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

    /** What it has come home for: its turn has come, or will not, or its time is over. */
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
                // It has ended meanwhile, and whoever ended it has seen to everything.
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
                since = now; // Whoever took an open permit has held it since it asked.
            }
            boundHold(now);
        }
        handOver(now);
    }

    /** Of an open permit nobody else knows since when it is held. */
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

    /** It was never requested for as long as it could have been held. */
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

    /** What has been handed over is its holder's. */
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
