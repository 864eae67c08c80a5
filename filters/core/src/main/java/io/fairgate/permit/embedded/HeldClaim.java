package io.fairgate.permit.embedded;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Permits that were taken without waiting: the caller's handle and the claim in one object.
 *
 * <pre>
 *   TRYING ──drain, or an open permit──▶ HELD ──release──▶ RELEASED
 *      └──the drain has not granted it when {@code ask} returns──▶ GIVEN_UP
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

    /** Takes permits if they can be granted now. */
    boolean take() {
        since = pool.timeOfTaking();
        if (pool.takeOpen(this)) {
            // No other thread uses it yet, except the drain, which may be counting it just now.
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
     * Puts the permit back into its cell. If the cell has been shut, the scheduler counts this claim, and the drain must look
     * at it. Of two concurrent calls the later one may also make the drain look, which finds nothing to release.
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

    /** Never: {@link #take} gives up by itself when it has no answer. */
    @Override
    boolean refuse(RefusalReason reason) {
        return false;
    }

    /** Nothing to resume: {@link #take} reads the state itself. */
    @Override
    void goHome() {}
}
