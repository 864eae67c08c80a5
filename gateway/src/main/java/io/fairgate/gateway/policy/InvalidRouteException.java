package io.fairgate.gateway.policy;

import io.fairgate.config.model.Mistake;
import java.util.List;
import java.util.stream.Collectors;

/** Invalid routes of the policy file. The message has one mistake per line. */
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
