package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The definition of what a {@link Backlog} answers: it keeps nothing but who is in it, and looks at all of them each
 * time.
 */
final class ScanBacklog implements Backlog {

    private final List<Share> shares = new ArrayList<>();
    private long horizon;

    @Override
    public void add(Share share, long contendedNow) {
        shares.add(share);
    }

    @Override
    public void remove(Share share, long contendedNow) {
        shares.remove(share);
    }

    @Override
    public void beforeChange(Share share, long contendedNow) {}

    @Override
    public void afterChange(Share share, long contendedNow) {}

    @Override
    public void afterChangeOfQueue(Share share) {}

    @Override
    public void afterChangeOfAll(long contendedNow, long horizon) {
        this.horizon = horizon;
    }

    @Override
    public boolean isEmpty() {
        return shares.isEmpty();
    }

    @Override
    public int size() {
        return shares.size();
    }

    @Override
    public long served(long contendedNow) {
        long served = 0;
        for (Share share : shares) {
            served += share.served(contendedNow);
        }
        return served;
    }

    @Override
    public long weightUnits() {
        long sum = 0;
        for (Share share : shares) {
            sum += share.weightUnits();
        }
        return sum;
    }

    @Override
    public long smallestWeightUnits() {
        return shares.stream().mapToLong(Share::weightUnits).min().orElseThrow();
    }

    @Override
    public long leastCost() {
        return shares.stream().mapToLong(Share::leastCost).min().orElseThrow();
    }

    @Override
    public @Nullable Share firstWithinReservation(long contendedNow, Predicate<Share> test) {
        return least(share -> share.leastCost() == 0 && test.test(share), share -> share.key(contendedNow, horizon));
    }

    @Override
    public @Nullable Share mostUrgent() {
        return least(Share::isBelowGuarantee, Share::partOfGuarantee);
    }

    @Override
    public @Nullable Share mostUrgentPast(Predicate<Share> mayPass) {
        return least(share -> share.isBelowGuarantee() && mayPass.test(share), Share::partOfGuarantee);
    }

    @Override
    public @Nullable Share first(long contendedNow) {
        return least(share -> true, share -> share.key(contendedNow, horizon));
    }

    private @Nullable Share least(Predicate<Share> which, ToDoubleFunction<Share> key) {
        Share least = null;
        for (Share share : shares) {
            if (which.test(share) && (least == null || order(share, least, key) < 0)) {
                least = share;
            }
        }
        return least;
    }

    private static int order(Share a, Share b, ToDoubleFunction<Share> key) {
        int byKey = Double.compare(key.applyAsDouble(a), key.applyAsDouble(b));
        int byLastGrant = byKey != 0 ? byKey : Long.compare(a.lastGrant, b.lastGrant);
        return byLastGrant != 0 ? byLastGrant : Long.compare(a.ordinal, b.ordinal);
    }
}
