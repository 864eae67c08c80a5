package io.fairgate.lease;

/** The id was that of a lease that has ended, and is still remembered ({@link LeaseTerm#remembered}). Nothing has changed. */
public final class LeaseEndedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LeaseEndedException(LeaseId id) {
        super("lease %s has ended (expected: an id that no lease had lately)".formatted(id), null, false, false);
    }
}
