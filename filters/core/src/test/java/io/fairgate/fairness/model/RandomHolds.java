package io.fairgate.fairness.model;

import io.fairgate.testkit.Holds;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * How long the requests of each tenant hold their permits. The means are spread over four orders of magnitude, so that there are
 * tiny and long holds side by side; the kinds are constant, exponential, heavy-tailed, and short with rare long ones.
 *
 * @param ofTenant one for each tenant; empty if steps end the holds
 */
record RandomHolds(List<Holds> ofTenant) {

    private static final RandomHolds ENDED_BY_STEPS = new RandomHolds(List.of());
    private static final double SHORTEST_MEAN = 1e6;
    private static final double ORDERS_OF_MAGNITUDE = 4;

    /** In every second scenario holds end by time. */
    static RandomHolds draw(Random random, int tenants) {
        return random.nextBoolean() ? ENDED_BY_STEPS : timed(random, tenants);
    }

    private static RandomHolds timed(Random random, int tenants) {
        return new RandomHolds(
                IntStream.range(0, tenants).mapToObj(tenant -> one(random)).toList());
    }

    private static Holds one(Random random) {
        Duration mean = Duration.ofNanos(nanos(random));
        return switch (random.nextInt(4)) {
            case 0 -> Holds.constant(mean);
            case 1 -> Holds.exponential(mean);
            case 2 -> Holds.pareto(mean);
            default -> Holds.bimodal(mean, 0.05);
        };
    }

    /** Of any order of magnitude with equal probability. */
    private static long nanos(Random random) {
        return Math.round(SHORTEST_MEAN * StrictMath.pow(10, ORDERS_OF_MAGNITUDE * random.nextDouble()));
    }

    boolean endByThemselves() {
        return !ofTenant.isEmpty();
    }

    /** Nanoseconds; 0 if a step ends the hold. */
    long next(int tenant, Random random) {
        return ofTenant.isEmpty() ? 0 : ofTenant.get(tenant).draw(random);
    }

    /** Time until the next step, of any order of magnitude, or none. */
    static long pause(Random random) {
        return random.nextInt(3) == 0 ? 0 : nanos(random) / 10;
    }
}
