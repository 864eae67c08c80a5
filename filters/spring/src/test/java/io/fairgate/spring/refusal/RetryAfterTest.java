package io.fairgate.spring.refusal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {

    @ParameterizedTest
    @CsvSource({
        "PT0.1S, PT0.1S",
        "PT1S, PT2S",
        "PT2S, PT3S",
        "PT9S, PT10S",
        "PT9.5S, PT10.5S",
        "PT10S, PT11S",
        "PT1M, PT1M6S",
        "PT10M, PT11M",
        "PT12H, PT12H1M",
    })
    void retry_after_is_never_too_early_and_slightly_randomised(Duration wait, Duration latest) {
        assertThat(new RetryAfter(bound -> 0).spread(wait)).isEqualTo(wait);
        assertThat(new RetryAfter(bound -> bound - 1).spread(wait)).isEqualTo(latest);
        assertThat(RetryAfter.RANDOM.spread(wait)).isBetween(wait, latest);
    }
}
