package io.fairgate.gateway.log;

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

/** Logs to standard error, for a command that runs without Spring Boot, which otherwise sets up the logging. */
public final class StderrLog {

    /** All levels, from none to all messages. */
    private static final List<Level> LEVELS =
            List.of(Level.OFF, Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG, Level.TRACE);

    private StderrLog() {}

    /** The mistake in the name of a level; null when the level exists. */
    public static @Nullable String mistake(String level) {
        return LEVELS.stream().anyMatch(known -> known.levelStr.equalsIgnoreCase(level))
                ? null
                : "%s (expected: one of %s)"
                        .formatted(level, LEVELS.stream().map(String::valueOf).collect(joining(", ")));
    }

    /** Logs warnings and errors, until the wanted level is known. To be called before anything logs. */
    public static void load() {
        var unused = Log.CONTEXT;
    }

    /** Logs this level and higher ones from now on; warnings and errors when it is null or unknown. */
    public static void from(@Nullable String level) {
        from(level, Log.CONTEXT);
    }

    /** Sets the level before it adds an output, because other threads log meanwhile, and a reset enables all levels. */
    public static void from(@Nullable String level, LoggerContext context) {
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

    /** A thread that asks SLF4J while another one initialises it gets a substitute; here both wait for the real one. */
    private static final class Log {
        static final LoggerContext CONTEXT = (LoggerContext) LoggerFactory.getILoggerFactory();

        static {
            from(null, CONTEXT);
        }
    }
}
