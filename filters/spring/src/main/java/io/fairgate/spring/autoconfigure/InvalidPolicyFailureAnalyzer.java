package io.fairgate.spring.autoconfigure;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import java.util.stream.Collectors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Has Spring Boot list the mistakes of a policy, without a stack trace, when an application cannot start because of them. */
final class InvalidPolicyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPolicyException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidPolicyException invalid) {
        String mistakes =
                invalid.mistakes().stream().map(Mistake::toString).collect(Collectors.joining("\n    ", "    ", ""));
        return new FailureAnalysis(
                "Fairgate cannot use its policy:\n\n" + mistakes,
                "Change each of these settings to what is expected.",
                invalid);
    }
}
