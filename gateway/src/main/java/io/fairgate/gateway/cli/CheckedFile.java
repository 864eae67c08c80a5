package io.fairgate.gateway.cli;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.Warning;
import io.fairgate.spring.policyfile.PolicyReload;
import java.nio.file.Path;
import java.util.List;

/**
 * The result of {@code check} for one file.
 *
 * @param contents the size of the policy, in words; empty if it has mistakes
 * @param isStrict whether a warning is refused like a mistake
 */
record CheckedFile(String file, List<Mistake> mistakes, List<Warning> warnings, String contents, boolean isStrict) {

    static CheckedFile of(PolicyReload.Report report, boolean isStrict) {
        String contents = report.mistakes().isEmpty() ? report.contents() : "";
        return new CheckedFile(report.file(), report.mistakes(), report.warnings(), contents, isStrict);
    }

    static CheckedFile of(Path file, InvalidPolicyException invalid, boolean isStrict) {
        return new CheckedFile(
                file.toString(), invalid.mistakes(), invalid.readable().warnings(), "", isStrict);
    }

    boolean isAccepted() {
        return mistakes.isEmpty() && (warnings.isEmpty() || !isStrict);
    }
}
