package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What has happened behind a pool, and since an earlier look. */
class UpstreamCountsTest {

    private final UpstreamCounts counts = new UpstreamCounts();

    @Test
    void holds_and_failures_add_up() {
        counts.held(TimeUnit.SECONDS.toNanos(2));
        counts.failed("upstream-lost");
        UpstreamTotals earlier = counts.totals();
        counts.held(TimeUnit.SECONDS.toNanos(4));
        counts.failed("upstream-lost");
        counts.failed("max-hold");

        UpstreamTotals now = counts.totals();
        assertThat(earlier.holds()).isOne();
        assertThat(earlier.holdSeconds()).isEqualTo(2);
        assertThat(now.holds()).isEqualTo(2);
        assertThat(now.holdSeconds()).isEqualTo(6);
        assertThat(now.failures()).containsEntry("upstream-lost", 2L).containsEntry("max-hold", 1L);
        assertThat(now.failuresSince(earlier)).hasToString("{max-hold=1, upstream-lost=1}");
        assertThat(now.failuresSince(now)).isEmpty();
    }
}
