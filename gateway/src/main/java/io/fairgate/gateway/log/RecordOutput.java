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
 * Gives the audit log and the access log, which programs read, an output of their own: each line is one JSON object and
 * nothing else, on standard output or in a rolling file.
 *
 * <p>Boot sets up the logging before this runs, and again for each application that starts while no other runs in the
 * process. A configuration file for logging would replace Boot's own, and be replaced by an operator's. So this only adds an
 * output: where an operator's {@code logging.config} already has one for these logs, it changes nothing without a directory.
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
        // Beans are destroyed in the reverse order of registration: the logs write their last records before this.
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
