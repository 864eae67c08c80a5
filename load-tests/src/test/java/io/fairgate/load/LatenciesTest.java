package io.fairgate.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LatenciesTest {

    private final Latencies latencies = new Latencies();

    @Test
    void percentiles_are_times_that_were_measured() {
        for (int millis = 1; millis <= 100; millis++) {
            latencies.answered(millis);
        }
        assertThat(latencies.percentile(50)).isEqualTo(50);
        assertThat(latencies.percentile(99)).isEqualTo(99);
        assertThat(latencies.percentile(100)).isEqualTo(100);
    }

    @Test
    void without_answers_every_comparison_is_false() {
        latencies.failed();
        double median = latencies.percentile(50);
        assertThat(median <= 1.5 || median >= 1.5).isFalse();
    }

    @Test
    void failures_do_not_make_a_tenant_look_fast() {
        latencies.answered(70);
        latencies.failed();
        latencies.failed();
        assertThat(latencies.percentile(50)).isEqualTo(70);
        assertThat(latencies.answers()).isEqualTo(1);
        assertThat(latencies.failures()).isEqualTo(2);
    }

    @Test
    void times_beyond_the_request_timeout_count_as_the_timeout() {
        latencies.answered(Latencies.MAX_MILLIS + 1);
        assertThat(latencies.percentile(50)).isEqualTo(Latencies.MAX_MILLIS);
    }
}
