package io.fairgate.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

    @ParameterizedTest
    @ValueSource(strings = {"1ms", "250ms", "1s", "90s", "5m", "90m", "2h", "1d", "30d", "0s", "PT0.0000001S"})
    void a_duration_is_written_as_it_is_read(String text) {
        Duration duration = Objects.requireNonNull(DurationText.parse(text));
        assertThat(DurationText.of(duration)).isEqualTo(text);
    }
}
