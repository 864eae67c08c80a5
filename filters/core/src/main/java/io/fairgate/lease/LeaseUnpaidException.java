package io.fairgate.lease;

/** The payment for the permits of a lease was refused in another process, which has the reason. The permits went back. */
public final class LeaseUnpaidException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LeaseUnpaidException(LeaseId id) {
        super("the payment for lease %s was refused".formatted(id), null, false, false);
    }
}
