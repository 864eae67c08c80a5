package io.fairgate.gateway;

import java.util.List;

/** Routes of the policy file that cannot be used as they are written. The message has one mistake a line. */
final class InvalidRouteException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // never serialised
    private final List<String> mistakes;

    InvalidRouteException(List<String> mistakes) {
        super(String.join("\n", mistakes));
        this.mistakes = List.copyOf(mistakes);
    }

    List<String> mistakes() {
        return mistakes;
    }
}
