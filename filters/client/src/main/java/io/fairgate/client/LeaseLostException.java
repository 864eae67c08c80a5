package io.fairgate.client;

import org.jspecify.annotations.Nullable;

/**
 * A lease may be somebody else's from about now on: it could not be extended in time, or the server will not have it any
 * more. The cause is what went wrong last, if anything did. Without a stack trace, for it is no bug of who is told.
 */
public final class LeaseLostException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String id;

    LeaseLostException(String id, String why, @Nullable Throwable cause) {
        super("lease %s is lost: %s".formatted(id, why), cause, false, false);
        this.id = id;
    }

    /** Of the lease. */
    public String id() {
        return id;
    }
}
