package io.fairgate.redis.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Three gateways with leases and requests, in random trouble: never more work than permits, and at the end all permits are free. */
class TroubledLeasesTest {

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Long.getLong("fairgate.seeds", 1));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void never_more_work_than_permits(long seed) {
        TroubledLeases cluster = new TroubledLeases(seed);
        cluster.run();
        assertThat(cluster.granted()).as("leases were granted").isPositive();
    }
}
