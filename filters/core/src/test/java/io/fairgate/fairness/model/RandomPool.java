package io.fairgate.fairness.model;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.RandomTree;
import io.fairgate.fairness.model.Step.Kind;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * A pool of random size and settings, and random steps for it.
 *
 * @param watch makes the observer of a run
 */
public record RandomPool(
        int permits,
        int tenants,
        int mostAsked,
        TenantShares shares,
        Duration gain,
        FairnessSettings settings,
        RandomHolds holds,
        Function<PoolTrial, PoolWatch> watch)
        implements SeededModel.Scenario<Step> {

    private static final double[] WEIGHTS = {0.1, 0.5, 1, 1, 1, 1.7, 2, 4, 100};

    /** A pool that a test runs itself. */
    public static RandomPool unwatched(Random random) {
        return watchedBy(trial -> new PoolWatch() {}).apply(random);
    }

    static Function<Random, RandomPool> watchedBy(Function<PoolTrial, PoolWatch> watch) {
        return random -> {
            int permits = 1 + random.nextInt(12);
            int tenants = 1 + random.nextInt(6);
            return new RandomPool(
                    permits,
                    tenants,
                    random.nextBoolean() ? 1 : 1 + random.nextInt(permits + 2),
                    shares(random.nextInt(), permits, tenants),
                    Duration.ofMillis(random.nextBoolean() ? 0 : 100 + random.nextInt(5_000)),
                    RandomTree.settings(random),
                    RandomHolds.draw(random, tenants),
                    watch);
        };
    }

    /** The same, with caps that depend on the number of active tenants. */
    RandomPool withCalculator(Random random) {
        int kind = random.nextInt(3);
        return new RandomPool(
                permits,
                tenants,
                mostAsked,
                shares.withCalculator((n, active) -> switch (kind) {
                    case 0 -> Math.max(1, n / active);
                    case 1 -> Math.max(1, n / (active + 1));
                    default -> 1 + Math.max(n - active, 0) / 2;
                }),
                gain,
                settings,
                holds,
                watch);
    }

    /** The same with equal tenants, which ask for one permit at a time. */
    public RandomPool withoutSettings() {
        return new RandomPool(permits, tenants, 1, TenantShares.EQUAL, gain, settings, holds, watch);
    }

    public static TenantId tenant(int index) {
        return TenantId.of("t" + index);
    }

    /** Settings for some of the tenants; together they reserve at most the pool. */
    public static TenantShares shares(int seed, int permits, int tenants) {
        Random random = new Random(seed);
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        boolean plain = random.nextInt(3) == 0;
        int free = permits;
        for (int i = 0; i < tenants; i++) {
            ShareSettings settings =
                    ShareSettings.ofWeight(plain || random.nextBoolean() ? 1 : WEIGHTS[random.nextInt(WEIGHTS.length)]);
            if (!plain && random.nextInt(3) == 0) {
                settings = settings.withMaxInFlight(1 + random.nextInt(permits));
            }
            if (!plain && random.nextInt(3) == 0) {
                int guaranteed = random.nextInt(Math.min(permits, settings.maxInFlight()) + 1);
                int reserved = random.nextBoolean() ? 0 : random.nextInt(Math.min(free, guaranteed) + 1);
                free -= reserved;
                settings = settings.withGuaranteed(guaranteed, reserved);
            }
            if (random.nextInt(4) > 0) {
                members.put(tenant(i), settings);
            }
        }
        return new TenantShares(members, ShareSettings.EQUAL);
    }

    @Override
    public Step operation(Random random) {
        return holds.endByThemselves() ? timed(random) : untimed(random);
    }

    /** Requests arrive more often than holds are ended early. */
    private Step timed(Random random) {
        int dice = random.nextInt(100);
        Kind kind = dice < 72
                ? Kind.ARRIVE
                : dice < 76
                        ? Kind.RELEASE
                        : dice < 84
                                ? Kind.CANCEL
                                : dice < 88
                                        ? Kind.DECLINE
                                        : dice < 91 ? Kind.RESIZE : dice < 93 ? Kind.RECONFIGURE : Kind.WAIT;
        int tenant = random.nextInt(tenants);
        boolean grants = random.nextInt(8) > 0;
        return new Step(
                kind, tenant, number(kind, random), RandomHolds.pause(random), grants, holds.next(tenant, random));
    }

    private Step untimed(Random random) {
        int dice = random.nextInt(100);
        Kind kind = dice < 45
                ? Kind.ARRIVE
                : dice < 75
                        ? Kind.RELEASE
                        : dice < 83
                                ? Kind.CANCEL
                                : dice < 87
                                        ? Kind.DECLINE
                                        : dice < 91 ? Kind.RESIZE : dice < 94 ? Kind.RECONFIGURE : Kind.WAIT;
        int number = number(kind, random);
        return new Step(kind, random.nextInt(tenants), number, pause(random), random.nextInt(8) > 0);
    }

    private int number(Kind kind, Random random) {
        return switch (kind) {
            case ARRIVE -> 1 + random.nextInt(mostAsked);
            case RESIZE -> random.nextBoolean() ? permits : 1 + random.nextInt(2 * permits);
            default -> random.nextInt(1 << 20);
        };
    }

    /** Mostly whole milliseconds, often zero, so that there are ties. */
    private static long pause(Random random) {
        int dice = random.nextInt(100);
        if (dice < 40) {
            return 0;
        }
        if (dice == 99) {
            return Duration.ofHours(1 + random.nextInt(400)).toNanos();
        }
        return Duration.ofMillis(1 + random.nextInt(dice < 90 ? 500 : 30_000)).toNanos();
    }

    @Override
    public SeededModel.Trial<Step> start() {
        return new PoolTrial(this);
    }

    @Override
    public String toString() {
        return "%d permits, %d tenants, requests of up to %d, gain %s, %s, %s, %s"
                .formatted(permits, tenants, mostAsked, gain, settings, holds, shares);
    }
}
