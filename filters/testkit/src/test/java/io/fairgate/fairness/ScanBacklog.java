package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The definition of the answers of a {@link Backlog}: it keeps only a list, and scans it each time.
 */
final class ScanBacklog implements Backlog {

    private final List<Share> shares = new ArrayList<>();
    private long gain;

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
    public void afterChangeOfAll(long contendedNow, long gain) {
        this.gain = gain;
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
    public double level(long contendedNow) {
        boolean byTheirKeys = shares.stream().anyMatch(share -> !share.isServedFirst);
        long served = 0;
        long weightUnits = 0;
        for (Share share : shares) {
            if (!byTheirKeys || !share.isServedFirst) {
                served += share.served(contendedNow);
                weightUnits += share.weightUnits();
            }
        }
        return (double) served / weightUnits;
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
    public long leastCost() {
        return shares.stream().mapToLong(Share::leastCost).min().orElseThrow();
    }

    @Override
    public @Nullable Share firstWithinReservation(long contendedNow, Predicate<Share> test) {
        return least(share -> share.leastCost() == 0 && test.test(share), share -> share.key(contendedNow, gain));
    }

    @Override
    public @Nullable Share mostUrgent() {
        return least(Share::isPromised, Share::partOfGuarantee);
    }

    @Override
    public @Nullable Share mostUrgentOf(Predicate<Share> test) {
        return least(share -> share.isPromised() && test.test(share), Share::partOfGuarantee);
    }

    @Override
    public @Nullable Share first(long contendedNow) {
        return least(share -> true, share -> share.key(contendedNow, gain));
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
