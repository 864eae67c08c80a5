package io.fairgate.permit.embedded;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Decides about requests: the scheduler says which is next, and this keeps the bounds of queues, waits and holds.
 *
 * <p>That a {@link Waiter} comes here is not an instruction. It only means that its state has changed, and the scheduler is
 * brought into agreement with that state. Doing so twice changes nothing, which makes a double release impossible.
 *
 * <p>Only for the drain.
 */
final class RequestQueue {

    private final FairScheduler scheduler;
    private final FastPath fastPath;
    private final SliceBound slice;
    private final Deadlines deadlines;
    private final Dispatcher dispatcher;
    private final Consumer<QueuedRequest> granted = this::granted;
    private final Consumer<Waiter> countTaken = this::countTaken;

    /** The requests that were queued in this round. */
    private final List<Waiter> arrived = new ArrayList<>();
    /** The time of this round, set by the drain: read once, because reading the clock takes as long as a grant. */
    long now;
    /** The sum of all permits that were ever restored, including those that have been released since. */
    private long restored;

    private boolean closing;

    RequestQueue(
            FairScheduler scheduler, FastPath fastPath, SliceBound slice, Deadlines deadlines, Dispatcher dispatcher) {
        this.scheduler = scheduler;
        this.fastPath = fastPath;
        this.slice = slice;
        this.deadlines = deadlines;
        this.dispatcher = dispatcher;
    }

    // ---- changes ----

    /** Brings the scheduler into agreement with the state of the waiter. */
    void reconcile(Waiter waiter) {
        boolean over = waiter.isOver();
        if (over) {
            deadlines.remove(waiter);
        }
        if (over && waiter.isHolding()) {
            scheduler.release(waiter, now);
            if (waiter.hasListener() && waiter.state() == State.RELEASED) {
                dispatcher.add(waiter::reportReleased);
            }
        } else if (over && waiter.isWaiting()) {
            scheduler.cancel(waiter, now);
        } else if (!over && waiter.isNew()) {
            admit(waiter);
        }
    }

    private void admit(Waiter waiter) {
        if (closing) {
            refuse(waiter, RefusalReason.DRAINING);
        } else if (slice.hasEnded(now)) {
            lose(waiter);
        } else {
            admitInTime(waiter);
        }
    }

    private void admitInTime(Waiter waiter) {
        countSlots();
        fastPath.arrived(waiter);
        if (!scheduler.canEverFit(waiter)) {
            refuse(waiter, RefusalReason.TOO_LARGE);
        } else {
            scheduler.enqueue(waiter, now);
            arrived.add(waiter);
        }
    }

    /** Counts permits that the request holds already. */
    void restore(Waiter waiter) {
        countSlots();
        if (closing) {
            refuse(waiter, RefusalReason.DRAINING);
        } else if (slice.hasEnded(now)) {
            lose(waiter);
        } else if (scheduler.inFlight() + (long) waiter.permits() > PoolSettings.MAX_PERMITS
                || restored + waiter.permits() > scheduler.permits()
                || !scheduler.canEverFitBeside(waiter.tenant(), waiter.permits())) {
            refuse(waiter, RefusalReason.TOO_LARGE);
        } else if (waiter.accept()) {
            restored += waiter.permits();
            scheduler.restore(waiter, now);
            granted(waiter);
        }
    }

    void reconfigure(PoolSettings settings, TenantShares shares) {
        countSlots();
        scheduler.reconfigure(settings.permits(), shares, settings.fairness(), now);
        fastPath.reconfigure(shares);
    }

    /** Shuts the fast path, so that the scheduler counts all permits. */
    void countSlots() {
        fastPath.shut(countTaken);
    }

    private void countTaken(Waiter waiter) {
        scheduler.countTaken(waiter, waiter.heldSince(now), now);
        deadlines.set(waiter, Math.min(waiter.holdUntil(), waiter.endOfHold(now)));
    }

    // ---- the slice of this process ----

    /** Bounds the permits in flight; returns how many there are. */
    int limit(int most, int leased) {
        countSlots();
        scheduler.limit(most, leased, now);
        slice.limit(most, scheduler.inFlight());
        return scheduler.inFlight();
    }

    void weigh(Map<TenantId, Double> tenants, Map<String, Double> groups) {
        scheduler.weigh(tenants, groups, now);
    }

    AskedPermits asked() {
        AskedPermits counted = scheduler.asked(now);
        Map<TenantId, Double> asked = new HashMap<>(counted.permits());
        Map<TenantId, Double> behindLarge = new HashMap<>(counted.behindLarge());
        int largest = counted.largest();
        fastPath.addTaken(asked);
        for (Map.Entry<TenantId, SliceBound.Refused> each : slice.refused(now).entrySet()) {
            SliceBound.Refused refused = each.getValue();
            double permits = refused.permits();
            asked.merge(each.getKey(), permits, Double::sum);
            if (!refused.isServed()) {
                largest = Math.max(largest, refused.permits());
                if (!scheduler.isWithinLimit(refused.permits())) {
                    behindLarge.merge(each.getKey(), permits, Double::sum);
                }
            }
        }
        return new AskedPermits(asked, behindLarge, largest);
    }

    /** Ends the requests that wait, because the slice has ended. */
    private void loseAll() {
        for (QueuedRequest next = scheduler.overPoolBound(0); next != null; next = scheduler.overPoolBound(0)) {
            Waiter waiter = (Waiter) next;
            takeOut(waiter);
            lose(waiter);
        }
    }

    private void lose(Waiter waiter) {
        if (waiter.lose()) {
            resume(waiter);
        }
    }

    // ---- the end ----

    /** Refuses later requests. */
    void close() {
        closing = true;
        countSlots();
    }

    /** Whether it is closed, and nothing is left. */
    boolean isClosed() {
        return closing && scheduler.waiting() == 0 && scheduler.inFlight() == 0;
    }

    // ---- decisions ----

    /** Ends what lasts too long, grants what can be granted, and refuses what may not wait. */
    void decide(int maxWaiting) {
        try {
            endWhatIsDue();
            if (slice.hasEnded(now)) {
                loseAll();
            }
            do {
                scheduler.grant(now, granted);
                // Permits may have been collected for a request that was refused; the others get them now.
            } while (refuseWhatMayNotWait(maxWaiting));
            fastPath.openWhenQuiet();
            slice.decided(scheduler.isShort(), scheduler.inFlight());
            deadlines.setTimer(nextDecision(), now);
        } catch (RuntimeException | Error e) {
            Guard.drop(e);
        }
    }

    /** When to decide again even if nothing else has changed. */
    private long nextDecision() {
        long endOfCollection = scheduler.nextEndOfCollection();
        return scheduler.waiting() > 0 ? Math.min(endOfCollection, slice.endsAt()) : endOfCollection;
    }

    private void granted(QueuedRequest request) {
        Waiter waiter = (Waiter) request;
        slice.granted(request);
        resume(waiter);
        deadlines.set(waiter, waiter.endOfHold(now));
    }

    /**
     * Refuses requests that are over a bound. Runs after the grants: a bound of 0 admits what need not wait.
     *
     * @return whether a request was refused
     */
    private boolean refuseWhatMayNotWait(int maxWaiting) {
        int before = scheduler.waiting();
        for (Waiter waiter : arrived) {
            if (waiter.isImmediate() && waiter.isWaiting()) {
                refuseInsteadOfWaiting(waiter, RefusalReason.MAX_WAIT);
            }
            QueuedRequest over = scheduler.overOwnBound(waiter);
            if (over != null) {
                refuseInsteadOfWaiting(over, RefusalReason.TENANT_QUEUE_FULL);
            }
            if (waiter.isWaiting()) {
                deadlines.set(waiter, waiter.begins);
            }
        }
        arrived.clear();
        refuseBeyond(maxWaiting, RefusalReason.POOL_QUEUE_FULL);
        return scheduler.waiting() < before;
    }

    /** Refuses the newest requests of the longest queues. */
    void refuseBeyond(int maxWaiting, RefusalReason reason) {
        QueuedRequest over = scheduler.overPoolBound(maxWaiting);
        while (over != null) {
            refuseInsteadOfWaiting(over, reason);
            over = scheduler.overPoolBound(maxWaiting);
        }
    }

    private void refuseInsteadOfWaiting(QueuedRequest request, RefusalReason reason) {
        if (!scheduler.waitsForOwnCap(request)) {
            slice.refused(request, now);
        }
        takeOut(request, reason);
    }

    private void takeOut(QueuedRequest request, RefusalReason reason) {
        Waiter waiter = (Waiter) request;
        takeOut(waiter);
        refuse(waiter, reason);
    }

    private void takeOut(Waiter waiter) {
        scheduler.cancel(waiter, now);
        deadlines.remove(waiter);
    }

    private void refuse(Waiter waiter, RefusalReason reason) {
        if (waiter.refuse(reason)) {
            resume(waiter);
        }
    }

    /** The caller of an immediate request looks at its state itself. */
    private void resume(Waiter waiter) {
        if (!waiter.isImmediate()) {
            dispatcher.add(waiter);
        }
    }

    // ---- deadlines ----

    /** Ends waits and holds that are due. Runs before the grants: a request that has waited for too long gets no permit. */
    private void endWhatIsDue() {
        Waiter waiter = deadlines.due(now);
        for (int i = 0; i < CommandLoop.BATCH && waiter != null; i++) {
            if (waiter.isWaiting()) {
                takeOut(waiter, scheduler.waitsForOwnCap(waiter) ? RefusalReason.TENANT_CAP : RefusalReason.MAX_WAIT);
            } else {
                // Its event loop ends the hold. If the hold is only beginning there, the next deadline tries again.
                deadlines.set(waiter, waiter.endOfHold(now));
                endHold(waiter);
            }
            waiter = deadlines.due(now);
        }
    }

    private void endHold(Waiter waiter) {
        waiter.isHoldOver = true;
        dispatcher.add(waiter);
    }

    /** Ends the holds of slots that are over, and has the timer ring for the next one. */
    void endHoldsOfSlots() {
        deadlines.ringBy(fastPath.endHolds(now, this::endHold), now);
    }

    /** Notes the end of the hold of a slot; meanwhile the scheduler may have come to count that permit. */
    void watchHold(Waiter waiter) {
        if (waiter.isHolding()) {
            deadlines.set(waiter, waiter.holdUntil());
        } else if (!waiter.isOver()) {
            deadlines.ringBy(waiter.holdUntil(), now);
        }
    }
}
