package io.fairgate.permit;

/** Why a pool refused a request. */
public enum RefusalReason {
    /** More requests wait than {@code max-waiting} of the tenant, of its class or of its group allows. */
    TENANT_QUEUE_FULL(true),
    /** Waited for the maximum wait because of the tenant's own {@code max-in-flight}, or that of its class or group. */
    TENANT_CAP(true),
    /** Asks for more permits than the tenant may ever hold at once: waiting would not help. */
    TOO_LARGE(true),
    /**
     * More requests wait than the pool's {@code max-waiting} allows, and this tenant's queue was the longest per weight; or
     * more requests arrive at once than the pool can take in.
     */
    POOL_QUEUE_FULL(false),
    /** Waited for the maximum wait while the pool was busy. */
    MAX_WAIT(false),
    /** The pool is being closed. */
    DRAINING(false);

    private final boolean tenantsOwn;

    RefusalReason(boolean tenantsOwn) {
        this.tenantsOwn = tenantsOwn;
    }

    /** Whether the request was refused because of a limit of its tenant, and not for lack of capacity in the pool. */
    public boolean isTenantsOwn() {
        return tenantsOwn;
    }

    /** The label in metrics and in answers, such as {@code tenant-queue-full}. */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }
}
