package io.fairgate.gateway;

import static java.util.stream.Collectors.joining;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.filter.ThresholdFilter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A log on the standard error, for a command that runs without Spring Boot, which sets the log up otherwise. */
final class StderrLog {

    /** What there is, from nothing to everything. */
    private static final List<Level> LEVELS =
            List.of(Level.OFF, Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG, Level.TRACE);

    private StderrLog() {}

    /** What is wrong with the name of a level; null when it is one. */
    static @Nullable String mistake(String level) {
        return LEVELS.stream().anyMatch(known -> known.levelStr.equalsIgnoreCase(level))
                ? null
                : "%s (expected: one of %s)"
                        .formatted(level, LEVELS.stream().map(String::valueOf).collect(joining(", ")));
    }

    /** Before it is known what is wanted, and before anything logs: warnings and errors. */
    static void load() {
        var unused = Log.CONTEXT;
    }

    /** From now on, whatever has this level or a higher one; warnings and errors when it is null or no level. */
    static void from(@Nullable String level) {
        from(level, Log.CONTEXT);
    }

    /** The level comes before there is anywhere to write: other threads log meanwhile, and a reset lets everything through. */
    static void from(@Nullable String level, LoggerContext context) {
        context.reset();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.toLevel(level, Level.WARN));
        ThresholdFilter threshold = new ThresholdFilter();
        threshold.setLevel(root.getLevel().levelStr);
        threshold.start();
        PatternLayoutEncoder lines = new PatternLayoutEncoder();
        lines.setContext(context);
        lines.setPattern("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %logger{0}: %msg%n");
        lines.start();
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setTarget("System.err");
        console.setEncoder(lines);
        // For a thread that looked at the level before it was set, and writes only now.
        console.addFilter(threshold);
        console.start();
        root.addAppender(console);
    }

    /** Who asks SLF4J while another thread has it find its implementation gets one that stands in: here both wait for it. */
    private static final class Log {
        static final LoggerContext CONTEXT = (LoggerContext) LoggerFactory.getILoggerFactory();

        static {
            from(null, CONTEXT);
        }
    }
}
