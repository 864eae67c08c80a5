package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The protocol among everything that goes wrong. {@code -Dfairgate.seeds=10000} runs more than the usual seeds; a seed that failed
 * once is kept in {@link #FOUND}.
 */
class SliceSimulationTest {

    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 500);
    private static final long CHAOS_MILLIS = 30_000;

    /** Longer than a recovery, a term and the longest lease. */
    private static final long CALM_MILLIS = 30_000;

    /** Seeds that exceeded the pool before the protocol was mended. */
    private static final long[] FOUND = {52, 55, 108, 192, 336};

    /** Seeds that exceed the pool without one of the guards. */
    private static final long[] WITHOUT_GUARD = {0, 8, 58, 162};

    private static void run(long seed) {
        ClusterSimulation cluster = new ClusterSimulation(seed, Set.of());
        assertThat(cluster.run(CHAOS_MILLIS))
                .as("usable at once, seed %d", seed)
                .isLessThanOrEqualTo(ClusterSimulation.PERMITS);
        cluster.calm(CALM_MILLIS);
        assertThat(cluster.divided()).as("divided in the end, seed %d", seed).isEqualTo(ClusterSimulation.PERMITS);
    }

    @Test
    void nodes_and_leases_never_have_more_than_the_pool_and_in_the_end_all_of_it() {
        LongStream.concat(LongStream.range(0, SEEDS), LongStream.of(FOUND)).forEach(SliceSimulationTest::run);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIMITED_STEPS", "SERVER_IDENTITY", "RECOVERY", "SEQUENCE", "LATEST_ANSWER", "LEASE_ONCE"})
    void without_a_guard_the_pool_is_exceeded(Guard guard) {
        LongStream seeds = LongStream.concat(LongStream.of(WITHOUT_GUARD), LongStream.range(0, 500));
        assertThat(seeds.anyMatch(seed -> exceeds(seed, guard))).isTrue();
    }

    private static boolean exceeds(long seed, Guard guard) {
        return new ClusterSimulation(seed, EnumSet.of(guard)).run(CHAOS_MILLIS) > ClusterSimulation.PERMITS;
    }
}
