package io.fairgate.client;

import org.jspecify.annotations.Nullable;

/**
 * A lease is lost, and another holder may soon get its permits: it could not be extended in time, or the server no longer
 * accepts it. The cause is the last failure, if there was one. No stack trace, because it is no bug of the program.
 */
public final class LeaseLostException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String id;

    LeaseLostException(String id, String why, @Nullable Throwable cause) {
        super("lease %s is lost: %s".formatted(id, why), cause, false, false);
        this.id = id;
    }

    /** The id of the lease. */
    public String id() {
        return id;
    }
}
