package io.fairgate.config.model;

import java.util.List;
import java.util.stream.Collectors;

/** A policy file that cannot be used. Its message lists every mistake, one a line. */
public final class InvalidPolicyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    // Transient: an exception must be serializable, and its mistakes need not be.
    private final transient List<Mistake> mistakes;

    private final transient PolicyFile readable;

    public InvalidPolicyException(List<Mistake> mistakes, PolicyFile readable) {
        super(mistakes.stream().map(Mistake::toString).collect(Collectors.joining("\n")));
        this.mistakes = List.copyOf(mistakes);
        this.readable = readable;
    }

    /** All mistakes, in the order of their lines; at least one. */
    public List<Mistake> mistakes() {
        return mistakes;
    }

    /** What could be read in spite of the mistakes, for further checks. Pools that its routes name may be missing. */
    public PolicyFile readable() {
        return readable;
    }
}
