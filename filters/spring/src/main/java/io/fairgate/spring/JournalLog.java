package io.fairgate.spring;

import io.fairgate.quota.JournalListener;
import io.micrometer.core.instrument.Counter;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs when the usage journal cannot be written, and when it can again, and counts the former. */
final class JournalLog implements JournalListener {

    private static final Logger log = LoggerFactory.getLogger(JournalLog.class);

    private final Counter failures;

    JournalLog(FairgateMeters meters) {
        failures = meters.journalFailures();
    }

    @Override
    public void failed(IOException cause) {
        failures.increment();
        log.error(
                "The usage journal cannot be written: {}. Quotas are counted in memory until it can; what is used meanwhile is lost if this process ends.",
                cause.toString());
    }

    @Override
    public void recovered() {
        log.info("The usage journal is written again.");
    }
}
