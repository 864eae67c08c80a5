package io.fairgate.gateway.policy;

import io.fairgate.config.model.Mistake;
import java.util.List;
import java.util.stream.Collectors;

/** Routes of the policy file that cannot be used as they are written. The message has one mistake a line. */
public final class InvalidRouteException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<Mistake> mistakes;

    InvalidRouteException(List<Mistake> mistakes) {
        super(mistakes.stream().map(Mistake::toString).collect(Collectors.joining("\n")));
        this.mistakes = List.copyOf(mistakes);
    }

    List<Mistake> mistakes() {
        return mistakes;
    }
}
