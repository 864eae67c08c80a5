package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggerContextListener;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.spi.FilterReply;
import io.fairgate.gateway.log.StderrLog;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of levels, and when a level takes effect. */
class StderrLogTest {

    @ParameterizedTest
    @ValueSource(strings = {"OFF", "error", "Warn", "INFO", "DEBUG", "TRACE"})
    void a_level_may_be_written_in_any_case(String level) {
        assertThat(StderrLog.mistake(level)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"LOUD", "3", "WARN ", "throttle=info"})
    void an_unknown_level_is_reported_with_the_known_ones(String level) {
        assertThat(StderrLog.mistake(level))
                .isEqualTo(level + " (expected: one of OFF, ERROR, WARN, INFO, DEBUG, TRACE)");
    }

    /** Called at each change of a level, when another thread could log. */
    @Test
    void events_during_the_setup_respect_the_level() {
        LoggerContext context = new LoggerContext();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        AppendersAtChanges changes = new AppendersAtChanges();
        context.addListener(changes);
        for (String level : new String[] {"ERROR", "INFO"}) {
            StderrLog.from(level, context);
            assertThat(root.iteratorForAppenders()).toIterable().hasSize(1);
        }
        assertThat(root.getEffectiveLevel()).isEqualTo(Level.INFO);
        assertThat(changes.seen).hasSizeGreaterThanOrEqualTo(2).containsOnly("none");
        context.stop();
    }

    @Test
    void an_event_below_the_level_is_not_written_although_it_passed_before_the_level_was_set() {
        LoggerContext context = new LoggerContext();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        StderrLog.from("WARN", context);
        Appender<ILoggingEvent> console = root.iteratorForAppenders().next();
        assertThat(console.getFilterChainDecision(event(root, Level.DEBUG))).isEqualTo(FilterReply.DENY);
        assertThat(console.getFilterChainDecision(event(root, Level.WARN))).isNotEqualTo(FilterReply.DENY);
        context.stop();
    }

    private static ILoggingEvent event(Logger logger, Level level) {
        return new LoggingEvent("", logger, level, "text", null, new Object[0]);
    }

    /** Lets the root logger write at each change of its level. */
    private static final class AppendersAtChanges implements LoggerContextListener {
        final List<String> seen = new ArrayList<>();

        @Override
        public boolean isResetResistant() {
            return true;
        }

        @Override
        public void onLevelChange(Logger logger, Level level) {
            seen.add(logger.iteratorForAppenders().hasNext() ? "some" : "none");
        }

        @Override
        public void onStart(LoggerContext context) {}

        @Override
        public void onReset(LoggerContext context) {}

        @Override
        public void onStop(LoggerContext context) {}
    }
}
