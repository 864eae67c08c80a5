package io.fairgate.lease;

/** The backend of the leases cannot be reached, and has not answered. It carries no stack trace. */
public final class LeasesUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LeasesUnavailableException(Throwable cause) {
        super("the backend of the leases cannot be reached", cause, false, false);
    }
}
