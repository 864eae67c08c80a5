package io.fairgate.replay;

/** The clients of a replay would send more requests than it allows. */
public final class TooManyRequestsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TooManyRequestsException(long most) {
        super("the replay has more than %d requests (expected: a shorter time)".formatted(most));
    }
}
