package io.fairgate.config;

import java.util.List;
import java.util.stream.Collectors;

/** A policy file that cannot be used. Its message lists every mistake, one a line. */
public final class InvalidPolicyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    // Transient, because an exception must be serializable and mistakes are not worth that promise.
    private final transient List<Mistake> mistakes;

    private final transient List<RouteDeclaration> routes;

    InvalidPolicyException(List<Mistake> mistakes, List<RouteDeclaration> routes) {
        super(mistakes.stream().map(Mistake::toString).collect(Collectors.joining("\n")));
        this.mistakes = List.copyOf(mistakes);
        this.routes = List.copyOf(routes);
    }

    /** All mistakes, in the order of their lines; at least one. */
    public List<Mistake> mistakes() {
        return mistakes;
    }

    /**
     * The routes whose shape could be made out all the same, for whoever knows what filters and predicates there are and
     * can so tell of more mistakes at once. The pools that they name need not exist.
     */
    public List<RouteDeclaration> routes() {
        return routes;
    }
}
