package io.fairgate.gateway.start;

/** The gateway did not start; Spring Boot has reported the reason. */
public final class StartFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StartFailedException(Throwable cause) {
        super(cause);
    }
}
