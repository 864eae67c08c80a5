package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.HeldPermits;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Permits that were taken without waiting: the handle of the caller and the claim in one.
 *
 * <pre>
 *   TRYING ──drain, or an open permit──▶ HELD ──release──▶ RELEASED
 *      └──the drain has none, or the caller does not wait for its answer──▶ GIVEN_UP
 * </pre>
 */
final class HeldClaim extends PoolClaim implements HeldPermits {

    private static final int TRYING = 0;
    private static final int HELD = 1;
    private static final int RELEASED = 2;
    private static final int GIVEN_UP = 3;

    private static final AtomicIntegerFieldUpdater<HeldClaim> STATE =
            AtomicIntegerFieldUpdater.newUpdater(HeldClaim.class, "state");

    private final EmbeddedPermitPool pool;
    private volatile int state;

    HeldClaim(EmbeddedPermitPool pool, PermitRequest request) {
        super(request);
        this.pool = pool;
    }

    /** Takes permits if they can be had now. */
    boolean take() {
        since = pool.timeOfTaking();
        if (pool.takeOpen(this)) {
            // Nobody else knows of it yet, but for the drain that may just be counting it.
            STATE.lazySet(this, HELD);
        } else {
            var unused = pool.ask(this, EmbeddedPermitPool.UNKNOWN);
            STATE.compareAndSet(this, TRYING, GIVEN_UP);
        }
        boolean taken = state == HELD;
        if (taken) {
            pool.tellGranted(this, 0);
        }
        return taken;
    }

    @Override
    public boolean isHeld() {
        return state == HELD;
    }

    /**
     * Either the cell takes the permit back, or it has been shut, and then the scheduler counts this claim and has to be
     * told. Of two that release at once, the one that comes too late tells the scheduler of a claim that it does not have.
     */
    @Override
    public void release() {
        OpenPermits open = from;
        if (open != null && open.giveBack(this)) {
            STATE.lazySet(this, RELEASED);
            pool.tellReleased(this);
        } else if (STATE.compareAndSet(this, HELD, RELEASED)) {
            pool.look(this);
        }
    }

    @Override
    protected boolean accept() {
        since = pool.timeOfTaking();
        return STATE.compareAndSet(this, TRYING, HELD);
    }

    @Override
    boolean isOver() {
        return state >= RELEASED;
    }

    /** It gives up by itself when it has no answer. */
    @Override
    boolean refuse(RefusalReason reason) {
        return false;
    }

    /** Its caller has waited for the answer, or has not. */
    @Override
    void goHome() {}
}
