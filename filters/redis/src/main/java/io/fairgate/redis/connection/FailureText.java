package io.fairgate.redis.connection;

/** Why Redis has not answered, in a line for people: the error, and what has caused it. */
public final class FailureText {

    private FailureText() {}

    public static String of(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String text = alone(error);
        return cause == error ? text : text + ": " + alone(cause);
    }

    private static String alone(Throwable error) {
        String message = error.getMessage();
        return error.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }
}
