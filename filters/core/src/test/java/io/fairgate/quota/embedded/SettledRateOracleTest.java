package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Returned units, at any time and in any order, never let a rate admit more than its definition allows. */
class SettledRateOracleTest {
    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 600);
    private static final int STEPS = 120;

    @Test
    void a_returned_unit_is_never_admitted_twice() {
        LongStream.range(0, SEEDS).forEach(SettledRateOracleTest::runTraffic);
    }

    private static void runTraffic(long seed) {
        Random random = new Random(seed);
        long limit = 1L + random.nextInt(20);
        Quota.Rate rate = new Quota.Rate("any", limit, Duration.ofMillis(1), 1L + random.nextInt(30));
        VirtualQuotas virtual = new VirtualQuotas();
        SlidingLog log = new SlidingLog(rate);
        List<QuotaCharge> charges = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            virtual.pass(
                    Duration.ofNanos(random.nextInt(4) == 0 ? random.nextInt(3_000_000) : random.nextInt(100_000)));
            if (random.nextInt(3) > 0 || charges.isEmpty()) {
                long units = 1 + random.nextLong(rate.burst());
                QuotaCharge charge = virtual.quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, rate), units);
                if (virtual.charge(charge).allowed()) {
                    assertThat(units)
                            .as("seed %d, step %d", seed, step)
                            .isLessThanOrEqualTo(log.remaining(virtual.nanos()));
                    log.admit(virtual.nanos(), units);
                    charges.add(charge);
                }
            } else {
                int any = random.nextInt(charges.size());
                if (charges.get(any).isCharged()) {
                    long kept = random.nextBoolean()
                            ? 0
                            : random.nextLong(charges.get(any).units());
                    virtual.settle(charges.get(any), kept);
                    log.settle(any, kept);
                }
            }
            assertThat(virtual.remaining(rate))
                    .as("seed %d, step %d: %s", seed, step, rate)
                    .isLessThanOrEqualTo(log.remaining(virtual.nanos()));
        }
    }
}
