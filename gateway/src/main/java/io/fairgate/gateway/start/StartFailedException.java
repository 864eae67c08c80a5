package io.fairgate.gateway.start;

/** The gateway did not start; Spring Boot has already said why. */
public final class StartFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StartFailedException(Throwable cause) {
        super(cause);
    }
}
