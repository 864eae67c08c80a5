package io.fairgate.gateway.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Makes Boot report unknown settings without a stack trace. */
final class UnknownSettingAnalyzer extends AbstractFailureAnalyzer<UnknownSettingException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnknownSettingException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), null, cause);
    }
}
