package io.fairgate.quota;

/** The backend of the quotas has not answered. It happens to many requests at once, so it carries no stack trace. */
public final class QuotasUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public QuotasUnavailableException(Throwable cause) {
        super("the backend of the quotas cannot be reached", cause, false, false);
    }
}
