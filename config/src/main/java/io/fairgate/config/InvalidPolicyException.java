package io.fairgate.config;

import java.util.List;
import java.util.stream.Collectors;

/** A policy file that cannot be used. Its message lists every mistake, one a line. */
public final class InvalidPolicyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    // Transient, because an exception must be serializable and mistakes are not worth that promise.
    private final transient List<Mistake> mistakes;

    InvalidPolicyException(List<Mistake> mistakes) {
        super(mistakes.stream().map(Mistake::toString).collect(Collectors.joining("\n")));
        this.mistakes = List.copyOf(mistakes);
    }

    /** All mistakes, in the order of their lines; at least one. */
    public List<Mistake> mistakes() {
        return mistakes;
    }
}
