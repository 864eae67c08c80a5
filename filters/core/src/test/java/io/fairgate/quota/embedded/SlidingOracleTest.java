package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A sliding window against a log of every request: no window ever contains more than the limit, a request is refused only if a
 * window that is a sixtieth longer would contain more, and a retry passes exactly at the announced time.
 *
 * <p>{@code -Dfairgate.seeds=100000} runs more than the usual seeds.
 */
class SlidingOracleTest {
    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 500);
    private static final int STEPS = 120;

    private record Admitted(long nanos, long units) {}

    /** A unit that returned later than a sixtieth of the window by the nanoseconds to which the parts are rounded up. */
    private static final long FOUND = 23_929_591_790_196L;

    private final List<Admitted> log = new ArrayList<>();

    @Test
    void any_window_holds_at_most_the_limit() {
        LongStream.concat(LongStream.range(0, SEEDS), LongStream.of(FOUND)).forEach(this::runTraffic);
    }

    private void runTraffic(long seed) {
        log.clear();
        Random random = new Random(seed);
        long limit = 1 + (long) (Math.exp(random.nextDouble() * Math.log(Quota.MAX_LIMIT)) - 1);
        long within = 1_000_000
                + (long) Math.exp(
                        random.nextDouble() * Math.log(Duration.ofDays(366).toNanos() - 1e6));
        Quota.Sliding sliding = new Quota.Sliding("any", limit, Duration.ofNanos(within));
        long part = (within + SlidingUsage.PARTS - 1) / SlidingUsage.PARTS;
        long longer = (SlidingUsage.PARTS + 1) * part;
        VirtualQuotas virtual = new VirtualQuotas();
        List<QuotaCharge> charges = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            virtual.pass(Duration.ofNanos(anyGap(random, within)));
            long now = virtual.nanos();
            String what = "seed %d, step %d: %s".formatted(seed, step, sliding);
            if (!charges.isEmpty() && random.nextInt(8) == 0) {
                int any = random.nextInt(charges.size());
                if (charges.get(any).isCharged()) {
                    virtual.settle(charges.get(any), 0);
                    log.set(any, new Admitted(log.get(any).nanos, 0));
                }
            }
            long units = Math.max(
                    1,
                    random.nextInt(3) == 0
                            ? random.nextLong(limit)
                            : virtual.remaining(sliding) + random.nextInt(3) - 1);
            QuotaCharge charge = virtual.quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, sliding), units);
            QuotaDecision decision = virtual.charge(charge);
            if (decision.allowed()) {
                log.add(new Admitted(now, units));
                charges.add(charge);
                assertThat(used(now, within)).as(what).isLessThanOrEqualTo(BigInteger.valueOf(limit));
            } else {
                assertThat(used(now, longer).add(BigInteger.valueOf(units)))
                        .as("refused although even the longer window has room, " + what)
                        .isGreaterThan(BigInteger.valueOf(limit));
                assertRetry(virtual, sliding, units, decision.retryAfter(), what);
            }
        }
    }

    /** The units in the log in (now - length, now]. */
    private BigInteger used(long now, long length) {
        return log.stream()
                .filter(each -> each.nanos > now - length)
                .map(each -> BigInteger.valueOf(each.units))
                .reduce(BigInteger.ZERO, BigInteger::add);
    }

    private static void assertRetry(
            VirtualQuotas virtual, Quota.Sliding quota, long units, Duration retry, String what) {
        if (units > quota.limit()) {
            assertThat(retry).as(what).isEqualTo(Balance.NEVER);
            return;
        }
        virtual.pass(retry.minusNanos(1));
        assertThat(virtual.check(units, quota).retryAfter()).as(what).isEqualTo(Duration.ofNanos(1));
        virtual.pass(Duration.ofNanos(1));
        assertThat(virtual.check(units, quota).allowed()).as(what).isTrue();
    }

    private static long anyGap(Random random, long within) {
        return switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> within + random.nextLong(within);
            case 2 -> random.nextLong(within);
            default -> random.nextLong(Math.max(1, within / 30));
        };
    }
}
