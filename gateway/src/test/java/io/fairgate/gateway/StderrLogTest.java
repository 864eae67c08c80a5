package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which names are levels. */
class StderrLogTest {

    @ParameterizedTest
    @ValueSource(strings = {"OFF", "error", "Warn", "INFO", "DEBUG", "TRACE"})
    void a_level_may_be_written_in_any_case(String level) {
        assertThat(StderrLog.mistake(level)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"LOUD", "3", "WARN ", "throttle=info"})
    void what_is_none_is_told_with_those_that_there_are(String level) {
        assertThat(StderrLog.mistake(level))
                .isEqualTo(level + " (expected: one of OFF, ERROR, WARN, INFO, DEBUG, TRACE)");
    }
}
