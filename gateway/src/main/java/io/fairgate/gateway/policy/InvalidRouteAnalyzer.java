package io.fairgate.gateway.policy;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Makes Boot report mistakes in routes as mistakes, without a stack trace. */
final class InvalidRouteAnalyzer extends AbstractFailureAnalyzer<InvalidRouteException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidRouteException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), null, cause);
    }
}
