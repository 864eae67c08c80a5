package io.fairgate.gateway.log;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/**
 * Gives the logs that programs read, the audit log and the access log, an output of their own: a line is one JSON
 * object and nothing else, on standard output or in a file that rolls.
 *
 * <p>Boot sets the logging up before this runs, anew for each program in a process that has none running. A
 * configuration file for logging would be Boot's way to add to that, but it would replace Boot's own, and be replaced by
 * an operator's. So this only adds: where an operator's {@code logging.config} has an output for these logs already, it
 * leaves them alone, unless it is told a directory.
 */
public final class RecordOutput implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        Environment settings = context.getEnvironment();
        LogFiles files = Binder.get(settings).bindOrCreate(LogFiles.PREFIX, LogFiles.class);
        boolean accessLog = settings.getProperty("fairgate.access-log", Boolean.class, false);
        open(context, "audit", files);
        if (accessLog) {
            open(context, "access", files);
        }
    }

    private static void open(ConfigurableApplicationContext context, String name, LogFiles files) {
        LoggerContext logging = (LoggerContext) LoggerFactory.getILoggerFactory();
        Logger logger = logging.getLogger("io.fairgate." + name);
        Path directory = files.directory();
        if (directory == null && logger.iteratorForAppenders().hasNext()) {
            return;
        }
        OutputStreamAppender<ILoggingEvent> output =
                directory == null ? new ConsoleAppender<>() : file(logging, name, directory, files);
        output.setContext(logging);
        output.setName("fairgate-" + name);
        output.setEncoder(lines(logging));
        output.start();
        if (!output.isStarted()) {
            throw unusable(files, "%s.log cannot be written there".formatted(name));
        }
        logger.addAppender(output);
        logger.setAdditive(false);
        // What is registered first is destroyed last: what the logs still hold is written when they are destroyed.
        ((DefaultSingletonBeanRegistry) context.getBeanFactory()).registerDisposableBean("fairgate-" + name, () -> {
            logger.detachAppender(output);
            logger.setAdditive(true);
            output.stop();
        });
    }

    private static RecordFile file(LoggerContext logging, String name, Path directory, LogFiles files) {
        if (!Files.isDirectory(directory)) {
            throw unusable(files, "expected: a directory that exists");
        }
        RecordFile appender = new RecordFile();
        appender.setFile(directory.resolve(name + ".log").toString());
        SizeAndTimeBasedRollingPolicy<ILoggingEvent> rolling = new SizeAndTimeBasedRollingPolicy<>();
        rolling.setContext(logging);
        rolling.setParent(appender);
        rolling.setFileNamePattern(
                directory.resolve(name + ".%d{yyyy-MM-dd}.%i.log.gz").toString());
        rolling.setMaxFileSize(new FileSize(files.maxSize().toBytes()));
        rolling.setMaxHistory(files.keepDays());
        rolling.setTotalSizeCap(new FileSize(files.maxTotal().toBytes()));
        rolling.start();
        appender.setRollingPolicy(rolling);
        return appender;
    }

    private static PatternLayoutEncoder lines(LoggerContext logging) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(logging);
        encoder.setPattern("%msg%n");
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.start();
        return encoder;
    }

    private static InvalidConfigurationPropertyValueException unusable(LogFiles files, String reason) {
        return new InvalidConfigurationPropertyValueException(
                LogFiles.PREFIX + ".directory", files.directory(), reason);
    }
}
