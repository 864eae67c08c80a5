package io.fairgate.shares;

import java.util.Arrays;
import java.util.List;

/**
 * Max-min fair shares of a capacity: a common level rises, and each tenant gets {@code level * weight}, but not less than
 * its floor and not more than its demand, until the capacity is used up (Bertsekas, Gallager, Data Networks, 6.5.2;
 * with bounds on both sides as in Kubernetes' {@code conc_alloc.go}).
 */
public final class WaterFilling {

    /**
     * The demand of one tenant.
     *
     * @param weight greater than 0
     * @param floor what the tenant gets first, at most its demand
     * @param demand the most that the tenant can use
     */
    public record Demand(double weight, double floor, double demand) {
        public Demand {
            if (!(weight > 0) || !(floor >= 0) || !(demand >= floor)) {
                throw new IllegalArgumentException(
                        "weight %s, floor %s, demand %s (expected: weight > 0, 0 <= floor <= demand)"
                                .formatted(weight, floor, demand));
            }
        }
    }

    /** A level at which the sum of all shares begins to grow faster or slower. */
    private record Bend(double level, double slope) {}

    private WaterFilling() {}

    /** The shares, in the order of the demands; their sum is the capacity, or the whole demand when that is less. */
    public static double[] shares(double capacity, List<Demand> demands) {
        double floors = demands.stream().mapToDouble(Demand::floor).sum();
        if (floors > capacity) {
            // The floors exceed the capacity, so the capacity is shared by the floors alone.
            return shares(
                    capacity,
                    demands.stream()
                            .map(d -> new Demand(d.weight(), 0, d.floor()))
                            .toList());
        }
        double level = level(capacity - floors, demands);
        return demands.stream()
                .mapToDouble(d -> Math.min(d.demand(), Math.max(d.floor(), level * d.weight())))
                .toArray();
    }

    /** The level at which the shares above the floors add up to {@code rest}; infinite when all demands fit. */
    private static double level(double rest, List<Demand> demands) {
        Bend[] bends = new Bend[demands.size() * 2];
        int i = 0;
        for (Demand d : demands) {
            bends[i++] = new Bend(d.floor() / d.weight(), d.weight());
            bends[i++] = new Bend(d.demand() / d.weight(), -d.weight());
        }
        Arrays.sort(bends, (a, b) -> Double.compare(a.level(), b.level()));
        double level = 0;
        double slope = 0;
        for (Bend bend : bends) {
            double step = slope * (bend.level() - level);
            if (slope > 0 && step >= rest) {
                return level + rest / slope;
            }
            rest -= Math.max(0, step);
            level = bend.level();
            slope += bend.slope();
        }
        return Double.POSITIVE_INFINITY;
    }
}
