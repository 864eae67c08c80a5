package io.fairgate.permit;

/**
 * Receives the outcome of every request, for meters. Called outside the pool's drain, on the thread on which the event
 * happens; must be quick, and must not block or throw (an exception goes to Reactor's hook for dropped errors).
 */
public interface PoolListener {

    /** Does nothing. */
    PoolListener NONE = new PoolListener() {};

    /** A request was granted its permits after waiting for {@code waitedNanos}; the work starts now. */
    default void granted(PoolRequest request, long waitedNanos) {}

    /** A request was refused after waiting for {@code waitedNanos}. */
    default void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {}

    /** The subscriber of a request cancelled after {@code waitedNanos}, before the work started. */
    default void abandoned(PoolRequest request, long waitedNanos) {}

    /** The backend of the pool could not be reached when a request had waited for {@code waitedNanos}; the work did not start. */
    default void lost(PoolRequest request, long waitedNanos) {}

    /** A request released its permits after holding them for {@code heldNanos}. */
    default void released(PoolRequest request, long heldNanos) {}
}
