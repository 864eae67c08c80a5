package io.fairgate.lease;

/** The lease does not exist: it was never opened, was released, or has expired. Nothing has changed. */
public final class LeaseGoneException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient LeaseId id;

    public LeaseGoneException(LeaseId id) {
        super(
                "lease %s is not there (expected: one that was opened, and neither released nor expired)".formatted(id),
                null,
                false,
                false);
        this.id = id;
    }

    public LeaseId id() {
        return id;
    }
}
