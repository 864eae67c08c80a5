package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Several gateways that charge units before requests ask for them, in random traffic, with a network that fails and gateways that are
 * shut down: by the times at which requests pass, no quota is exceeded, and at the end exactly what was used is charged.
 */
class PrepaidBoundsTest {

    private static final int SEEDS = Integer.getInteger("fairgate.seeds", 30);

    @Test
    void no_quota_admits_too_much_and_what_is_not_used_is_given_back() {
        int decidedAtOnce = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            PrepaidTraffic traffic = new PrepaidTraffic(seed);
            traffic.run();
            decidedAtOnce += traffic.decidedAtOnce();
        }
        assertThat(decidedAtOnce)
                .as("requests that were decided without a call")
                .isGreaterThan(20 * SEEDS);
    }
}
