package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Random rates under random traffic against the definition; a failure names its seed. */
class RateOracleTest {
    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 1000);
    private static final int REQUESTS = 80;
    /** Keeps the sum of all gaps within the clock's 292 years. */
    private static final long LONGEST_GAP = Long.MAX_VALUE / (2 * REQUESTS);

    @Test
    void a_rate_admits_exactly_what_its_definition_allows() {
        LongStream.range(0, SEEDS).forEach(RateOracleTest::runTraffic);
    }

    private static void runTraffic(long seed) {
        Random random = new Random(seed);
        Quota.Rate rate = anyRate(random);
        VirtualQuotas virtual = new VirtualQuotas();
        SlidingLog log = new SlidingLog(rate);
        for (int i = 0; i < REQUESTS; i++) {
            virtual.pass(Duration.ofNanos(anyGap(random, rate)));
            int request = i;
            long now = virtual.nanos();
            long allowance = log.remaining(now);
            // Mostly near the limit: one too many, or exactly all.
            long units = random.nextInt(3) == 0
                    ? 1 + random.nextLong(rate.burst())
                    : Math.max(1, allowance + random.nextInt(3) - 1);
            QuotaDecision decision = virtual.charge(units, rate);
            Supplier<String> what =
                    () -> "seed %d, request %d: %d units of %s at %d ns".formatted(seed, request, units, rate, now);
            assertThat(decision.allowed()).as(what).isEqualTo(units <= allowance);
            if (decision.allowed()) {
                log.admit(now, units);
            }
            agrees(decision.balances().get(0), log, now, decision.allowed() ? 0 : units, what);
        }
    }

    private static void agrees(Balance balance, SlidingLog log, long now, long refused, Supplier<String> what) {
        Quota.Rate rate = (Quota.Rate) balance.quota();
        assertThat(balance.remaining()).as(what).isEqualTo(log.remaining(now));
        assertFirstMoment(balance.untilFull(), log, now, rate.burst(), () -> what.get() + ", until full");
        if (refused > rate.burst()) {
            assertThat(balance.retryAfter()).as(what).isEqualTo(Balance.NEVER);
        } else {
            assertFirstMoment(balance.retryAfter(), log, now, refused, () -> what.get() + ", retry");
        }
    }

    /** After {@code wait}, and not a nanosecond earlier, {@code units} are left. */
    private static void assertFirstMoment(Duration wait, SlidingLog log, long now, long units, Supplier<String> what) {
        if (wait.compareTo(Duration.ofNanos(Long.MAX_VALUE - now)) >= 0) {
            return; // beyond the clock
        }
        long then = now + wait.toNanos();
        assertThat(log.remaining(then)).as(what).isGreaterThanOrEqualTo(units);
        if (then > now) {
            assertThat(log.remaining(then - 1))
                    .as(() -> what.get() + ", 1 ns early")
                    .isLessThan(units);
        }
    }

    private static Quota.Rate anyRate(Random random) {
        long limit = anyUpTo(random, Quota.MAX_LIMIT);
        long per = Math.max(1_000_000, anyUpTo(random, Duration.ofDays(366).toNanos()));
        long burst = random.nextInt(3) == 0 ? limit : anyUpTo(random, Quota.MAX_LIMIT);
        return new Quota.Rate("any", limit, Duration.ofNanos(per), burst);
    }

    /** Of any order of magnitude, and sometimes the smallest or the largest value. */
    private static long anyUpTo(Random random, long most) {
        return switch (random.nextInt(10)) {
            case 0 -> 1;
            case 1 -> most;
            default -> 1 + (long) (Math.exp(random.nextDouble() * Math.log((double) most)) - 1);
        };
    }

    private static long anyGap(Random random, Quota.Rate rate) {
        double perUnit = (double) rate.per().toNanos() / rate.limit();
        double gap = switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> perUnit * rate.burst() * random.nextDouble() * 2;
            default -> perUnit * random.nextDouble() * 3;
        };
        return Math.min(LONGEST_GAP, (long) gap);
    }
}
