package io.fairgate.gateway.start;

import io.fairgate.quota.journal.UnusableJournalException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports what is wrong with the usage journal, without the beans that depend on it. */
final class UnusableJournalAnalyzer extends AbstractFailureAnalyzer<UnusableJournalException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnusableJournalException cause) {
        return new FailureAnalysis("fairgate.quotas.journal: " + cause.getMessage(), null, cause);
    }
}
