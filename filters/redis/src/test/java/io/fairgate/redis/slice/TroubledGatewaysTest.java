package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PoolSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TroubledGatewaysTest {

    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 6);
    private static final Duration CHAOS = Duration.ofMinutes(1);

    /** Longer than a recovery and a term. */
    private static final Duration CALM = Duration.ofSeconds(15);

    @Test
    void all_pools_together_never_have_more_in_use_than_there_are_permits_and_in_the_end_nearly_all() {
        long unavailable = 0;
        int full = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            TroubledGateways gateways = run(seed, OutagePolicy.FAIL_CLOSED);
            unavailable += gateways.unavailable();
            full += gateways.mostInUse() == TroubledGateways.PERMITS ? 1 : 0;
        }
        assertThat(unavailable).as("requests that found no slice").isGreaterThan(10L * SEEDS);
        assertThat(full).as("runs that used the whole pool").isGreaterThan(SEEDS * 9 / 10);
    }

    @Test
    void a_reserve_of_each_gateway_serves_all_the_time_and_never_more_are_in_use() {
        OutagePolicy reserve = OutagePolicy.reserve(TroubledGateways.GATEWAYS, 0.5);
        int full = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            TroubledGateways gateways = run(seed, reserve);
            assertThat(gateways.unavailable()).as("refused, seed %d", seed).isZero();
            full += gateways.mostInUse() == TroubledGateways.PERMITS ? 1 : 0;
        }
        assertThat(full).as("runs that used the whole pool").isGreaterThan(SEEDS * 9 / 10);
    }

    private static TroubledGateways run(long seed, OutagePolicy outages) {
        TroubledGateways gateways = new TroubledGateways(seed, outages);
        assertThat(gateways.run(CHAOS)).as("in use, seed %d", seed).isLessThanOrEqualTo(TroubledGateways.PERMITS);
        assertThat(gateways.calm(CALM, CALM))
                .as("used in the end, seed %d", seed)
                .isGreaterThan(0.9);
        assertThat(gateways.mostInUse()).as("in use, seed %d", seed).isLessThanOrEqualTo(TroubledGateways.PERMITS);
        assertThat(gateways.longestSilence())
                .as("longest time without an answer, seed %d", seed)
                .isLessThan(PoolSettings.DEFAULT_MAX_WAIT.plusSeconds(1));
        return gateways;
    }
}
