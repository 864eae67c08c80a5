package io.fairgate.permit;

/** Why no permit was to be had. */
public enum RefusalReason {
    /** More of the tenant's requests wait than its own {@code max-waiting} allows. */
    TENANT_QUEUE_FULL(true),
    /** Waited for as long as allowed, behind the tenant's own {@code max-in-flight}. */
    TENANT_CAP(true),
    /** Asks for more permits than the tenant may ever have at once: waiting would not help. */
    TOO_LARGE(true),
    /** More requests wait than the pool's {@code max-waiting} allows, and this tenant's queue was the longest. */
    POOL_QUEUE_FULL(false),
    /** Waited for as long as allowed, and the pool was busy all the time. */
    MAX_WAIT(false),
    /** The pool is being closed. */
    DRAINING(false);

    private final boolean tenantsOwn;

    RefusalReason(boolean tenantsOwn) {
        this.tenantsOwn = tenantsOwn;
    }

    /** Whether a limit of the tenant's own refused, rather than the pool's lack of capacity. */
    public boolean isTenantsOwn() {
        return tenantsOwn;
    }

    /** As it is written in metrics and in answers: {@code tenant-queue-full}. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }
}
