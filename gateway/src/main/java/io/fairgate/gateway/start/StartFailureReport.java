package io.fairgate.gateway.start;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/**
 * Prints the failure analysis and nothing else to standard error, like the mistakes of a policy. Boot's own reporter, which
 * adds headings, is switched off in application.yml.
 */
final class StartFailureReport implements FailureAnalysisReporter {
    @Override
    public void report(FailureAnalysis analysis) {
        System.err.println(analysis.getDescription());
        if (analysis.getAction() != null) {
            System.err.println(analysis.getAction());
        }
    }
}
