package io.fairgate.config.model;

import java.util.List;
import java.util.stream.Collectors;

/** A policy file that cannot be used. Its message lists every mistake, one a line. */
public final class InvalidPolicyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    // Transient, because an exception must be serializable and mistakes are not worth that promise.
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

    /**
     * What could be made out all the same, for whoever can so tell more at once: of filters and predicates that there are
     * not, and what the file may say but seldom means. Pools that its routes name need not be there.
     */
    public PolicyFile readable() {
        return readable;
    }
}
