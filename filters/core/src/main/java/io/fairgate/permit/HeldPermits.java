package io.fairgate.permit;

import io.fairgate.tenant.TenantId;

/**
 * Permits that the caller holds and must release. Where the work is a {@code Mono} or {@code Flux}, prefer
 * {@link PermitPool#withPermit}, which releases them in every case.
 *
 * <p>Any thread may release them, any number of times: only the first call counts. Releasing never blocks.
 */
public interface HeldPermits extends AutoCloseable {

    TenantId tenant();

    int permits();

    /** False after the permits were released, or taken back because they were held for too long. */
    boolean isHeld();

    /** Gives the permits back; the next requests in order get them. */
    void release();

    /** The same as {@link #release}. */
    @Override
    default void close() {
        release();
    }
}
