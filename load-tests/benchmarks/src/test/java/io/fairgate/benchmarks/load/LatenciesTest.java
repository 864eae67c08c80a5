package io.fairgate.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LatenciesTest {

    @Test
    void a_percentile_is_the_least_latency_that_so_many_requests_do_not_exceed() {
        Latencies latencies = new Latencies();
        for (int millis = 2000; millis >= 1; millis--) {
            latencies.add(millis * 1_000_000L);
        }

        assertThat(latencies.count()).isEqualTo(2000);
        assertThat(latencies.percentile(50)).isEqualTo(1000);
        assertThat(latencies.percentile(99)).isEqualTo(1980);
        assertThat(latencies.percentile(100)).isEqualTo(2000);
        assertThat(latencies.percentile(0)).isEqualTo(1);
    }

    @Test
    void a_latency_that_comes_after_a_question_counts_as_well() {
        Latencies latencies = new Latencies();
        latencies.add(2_000_000);
        assertThat(latencies.percentile(50)).isEqualTo(2);

        latencies.add(1_000_000);

        assertThat(latencies.percentile(50)).isEqualTo(1);
    }

    @Test
    void without_requests_there_is_no_percentile() {
        assertThat(new Latencies().percentile(50)).isNaN();
    }
}
