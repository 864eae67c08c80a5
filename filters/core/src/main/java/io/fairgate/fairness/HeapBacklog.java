package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The backlogged tenants in heaps: finding the next takes time in proportion to the logarithm of their number.
 *
 * <p><b>By key, lazily.</b> Between its own events a tenant's key only grows, and so all keys change all the time without
 * anybody being told. The heap is ordered by the keys as they were when they were last looked at. The true keys are not
 * smaller; so when the true key of the top is the one it is filed under, no other is before it, and otherwise it is filed
 * anew and the next top is looked at.
 *
 * <p><b>Below their guarantee</b> tenants are ordered by the part that they have of it, which changes only with events
 * of their own.
 *
 * <p><b>Within a reservation</b> a grant costs nobody anything and is made at once; so there is hardly ever anybody to
 * look at, and a list will do.
 */
final class HeapBacklog implements Backlog {

    private final ShareHeap byKey = new ShareHeap(new ByFiledKey());
    private final ShareHeap promised = new ShareHeap(new ByPartOfGuarantee());
    private final List<TenantShare> withinReservation = new ArrayList<>();

    private long horizon;
    private long weightUnits;
    /** What all were served at {@link #servedAt}, and the permits that they hold together since. */
    private long served;

    private long inFlight;
    private long servedAt;

    @Override
    public void add(TenantShare share, long contendedNow) {
        weightUnits += share.weightUnits();
        share.filedKey = share.key(contendedNow, horizon);
        byKey.add(share);
        count(share, 1, contendedNow);
        refile(share);
    }

    @Override
    public void remove(TenantShare share, long contendedNow) {
        weightUnits -= share.weightUnits();
        count(share, -1, contendedNow);
        byKey.remove(share);
        if (promised.contains(share)) {
            promised.remove(share);
        }
        withinReservation.remove(share);
    }

    @Override
    public void beforeChange(TenantShare share, long contendedNow) {
        count(share, -1, contendedNow);
    }

    @Override
    public void afterChange(TenantShare share, long contendedNow) {
        count(share, 1, contendedNow);
        share.filedKey = share.key(contendedNow, horizon);
        byKey.moved(share);
        refile(share);
    }

    @Override
    public void afterChangeOfAll(long contendedNow, long horizon) {
        this.horizon = horizon;
        served = 0;
        inFlight = 0;
        servedAt = contendedNow;
        weightUnits = 0;
        byKey.forEach(share -> {
            weightUnits += share.weightUnits();
            count(share, 1, contendedNow);
            share.filedKey = share.key(contendedNow, horizon);
        });
        byKey.reorder();
        promised.reorder();
        withinReservation.clear();
        byKey.forEach(this::refile);
    }

    private void count(TenantShare share, int sign, long contendedNow) {
        served = served(contendedNow) + sign * share.served(contendedNow);
        servedAt = contendedNow;
        inFlight += (long) sign * share.inFlight;
    }

    /** Into, out of, or to its new place among those with a promise. */
    private void refile(TenantShare share) {
        boolean isPromised = share.isBelowGuarantee();
        if (isPromised && promised.contains(share)) {
            promised.moved(share);
        } else if (isPromised) {
            promised.add(share);
        } else if (promised.contains(share)) {
            promised.remove(share);
        }
        afterChangeOfQueue(share);
    }

    @Override
    public void afterChangeOfQueue(TenantShare share) {
        if (share.settings.reserved() > 0) {
            withinReservation.remove(share);
            if (share.headIsWithinReservation()) {
                withinReservation.add(share);
            }
        }
    }

    @Override
    public boolean isEmpty() {
        return byKey.isEmpty();
    }

    @Override
    public long served(long contendedNow) {
        return served + inFlight * (contendedNow - servedAt);
    }

    @Override
    public long weightUnits() {
        return weightUnits;
    }

    @Override
    public long smallestWeightUnits() {
        long[] smallest = {Long.MAX_VALUE};
        byKey.forEach(share -> smallest[0] = Math.min(smallest[0], share.weightUnits()));
        return smallest[0];
    }

    @Override
    public @Nullable TenantShare firstWithinReservation(long contendedNow) {
        TenantShare first = null;
        for (TenantShare share : withinReservation) {
            if (first == null
                    || Backlog.precedes(
                            share.key(contendedNow, horizon), share, first.key(contendedNow, horizon), first)) {
                first = share;
            }
        }
        return first;
    }

    @Override
    public @Nullable TenantShare mostUrgent() {
        return promised.top();
    }

    @Override
    public @Nullable TenantShare mostUrgentPast(Pin pin) {
        @Nullable TenantShare[] first = new TenantShare[1];
        promised.forEach(share -> {
            TenantShare best = first[0];
            if (pin.isPassedBy(share)
                    && (best == null
                            || Backlog.precedes(share.partOfGuarantee(), share, best.partOfGuarantee(), best))) {
                first[0] = share;
            }
        });
        return first[0];
    }

    @Override
    public @Nullable TenantShare first(long contendedNow) {
        for (TenantShare top = byKey.top(); top != null; top = byKey.top()) {
            double key = top.key(contendedNow, horizon);
            if (key <= top.filedKey) {
                return top;
            }
            top.filedKey = key;
            byKey.moved(top);
        }
        return null;
    }

    private static final class ByFiledKey implements ShareHeap.Order {
        @Override
        public boolean precedes(TenantShare a, TenantShare b) {
            return Backlog.precedes(a.filedKey, a, b.filedKey, b);
        }

        @Override
        public int place(TenantShare share) {
            return share.placeByKey;
        }

        @Override
        public void setPlace(TenantShare share, int index) {
            share.placeByKey = index;
        }
    }

    private static final class ByPartOfGuarantee implements ShareHeap.Order {
        @Override
        public boolean precedes(TenantShare a, TenantShare b) {
            return Backlog.precedes(a.partOfGuarantee(), a, b.partOfGuarantee(), b);
        }

        @Override
        public int place(TenantShare share) {
            return share.placeAmongPromised;
        }

        @Override
        public void setPlace(TenantShare share, int index) {
            share.placeAmongPromised = index;
        }
    }
}
