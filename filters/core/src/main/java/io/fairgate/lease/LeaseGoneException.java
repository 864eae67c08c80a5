package io.fairgate.lease;

/** The lease does not exist: it was never opened, was released, or has expired. Nothing has changed. */
public final class LeaseGoneException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LeaseGoneException(LeaseId id) {
        super(
                "lease %s does not exist (it was released, has expired, or was never opened)".formatted(id),
                null,
                false,
                false);
    }
}
