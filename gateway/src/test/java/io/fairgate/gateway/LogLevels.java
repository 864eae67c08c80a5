package io.fairgate.gateway;

import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/** Switches the log on again after the tests of a class that run {@code check}, which switches it off for the whole JVM. */
public final class LogLevels implements AfterAllCallback {

    @Override
    public void afterAll(ExtensionContext tests) {
        LoggingSystem log = LoggingSystem.get(LogLevels.class.getClassLoader());
        log.setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.INFO);
        for (String name :
                List.of("org.springframework.boot.SpringApplication", "io.fairgate.gateway", "io.fairgate.audit")) {
            log.setLogLevel(name, null);
        }
    }
}
