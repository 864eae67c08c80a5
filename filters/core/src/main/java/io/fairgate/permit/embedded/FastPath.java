package io.fairgate.permit.embedded;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The fast path: while no request waits, a request takes a free permit from a slot by one compare-and-set and puts it back by
 * another, without the scheduler and without another thread.
 *
 * <p>Threads: any thread takes, gives back, and closes; the rest is only for the drain.
 */
final class FastPath {

    /** The fewest rounds of the drain without a waiting request before the slots open again: to open and shut has a cost. */
    private static final int QUIET_ROUNDS = 64;

    private final FairScheduler scheduler;
    private final SliceBound slice;
    private final LongSupplier clock;
    /** The tenants that may use it. */
    private volatile Predicate<TenantId> eligible;

    private volatile boolean isClosed;
    private volatile Slots slots;

    /** The rounds since a request last waited or needed a decision of the scheduler. */
    private int quietRounds = Integer.MAX_VALUE;

    FastPath(FairScheduler scheduler, TenantShares shares, SliceBound slice, LongSupplier clock) {
        this.scheduler = scheduler;
        this.slice = slice;
        this.clock = clock;
        this.eligible = eligible(shares);
        this.slots = new Slots(scheduler.permits());
        openWhenQuiet();
    }

    /** By {@link TenantShares#mayTakeUnasked}, once for the shares: for each request it would take longer than the permit. */
    private static Predicate<TenantId> eligible(TenantShares shares) {
        boolean others = shares.mayTakeUnasked(null);
        Set<TenantId> exceptions = shares.members().keySet().stream()
                .filter(member -> shares.mayTakeUnasked(member) != others)
                .collect(Collectors.toUnmodifiableSet());
        return exceptions.isEmpty() ? tenant -> others : tenant -> exceptions.contains(tenant) != others;
    }

    // ---- any thread ----

    /** Takes a permit for the waiter; false when only the scheduler can decide, or no permit is free. */
    boolean take(Waiter waiter) {
        return isEligible(waiter) && isInTime() && slots.take(waiter);
    }

    /** Reads the clock only where the slice of this process ends at some time: it takes as long as taking a permit. */
    private boolean isInTime() {
        return slice.isUnending() || !slice.hasEnded(clock.getAsLong());
    }

    /** Puts back the permit of the waiter; false when it has none from here, or its slot has been shut meanwhile. */
    boolean giveBack(Waiter waiter) {
        return slots.giveBack(waiter);
    }

    /** Whether the waiter is still in its slot; if not, the drain has seen it. */
    boolean has(Waiter waiter) {
        return slots.has(waiter);
    }

    private boolean isEligible(QueuedRequest request) {
        return request.permits() == 1 && eligible.test(request.tenant());
    }

    boolean hasFree(TenantId tenant) {
        return eligible.test(tenant) && isInTime() && slots.hasFree();
    }

    /** Later requests take no slot any more, also while the drain is busy. */
    void close() {
        isClosed = true;
        eligible = tenant -> false;
    }

    // ---- only for the drain ----

    /** Shuts all slots: from here on the scheduler grants every permit. {@code taken} gets the waiters that hold one. */
    void shut(Consumer<Waiter> taken) {
        scheduler.moveFromSlots(slots.shutAll(taken));
    }

    /** Follows new shares and a new size of the scheduler. The slots must be shut. */
    void reconfigure(TenantShares shares) {
        slots = new Slots(scheduler.permits());
        eligible = eligible(shares);
        if (isClosed) {
            eligible = tenant -> false;
        }
    }

    /** Postpones the opening when the request needs a decision of the scheduler. */
    void arrived(QueuedRequest request) {
        if (!isEligible(request)) {
            quietRounds = 0;
        }
    }

    void openWhenQuiet() {
        if (isClosed || scheduler.waiting() > 0) {
            quietRounds = 0;
        } else if (quietRounds < Math.max(QUIET_ROUNDS, slots.size())) {
            quietRounds++;
        } else {
            slots.open(scheduler.moveToSlots(slots.shut()));
        }
    }

    /** Adds the permits that are taken from slots. */
    void addTaken(Map<TenantId, Double> asked) {
        slots.forEachTaken(waiter -> asked.merge(waiter.tenant(), (double) waiter.permits(), Double::sum));
    }

    /** Passes on the waiters in slots whose holds are over; returns the end of the next hold. */
    long endHolds(long now, Consumer<Waiter> over) {
        long[] next = {Deadlines.NEVER};
        slots.forEachTaken(waiter -> {
            long until = waiter.holdUntil();
            if (until <= now) {
                over.accept(waiter);
            } else {
                next[0] = Math.min(next[0], until);
            }
        });
        return next[0];
    }
}
