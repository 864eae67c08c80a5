package io.fairgate.gateway.start;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the message of a refused {@code fairgate} setting alone; values that Boot cannot convert are left to Boot. */
final class InvalidSettingAnalyzer extends AbstractFailureAnalyzer<BindException> {
    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = String.valueOf(root.getMessage());
        return message.startsWith("fairgate.") ? new FailureAnalysis(message, null, cause) : null;
    }
}
