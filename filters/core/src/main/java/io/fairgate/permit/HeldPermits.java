package io.fairgate.permit;

import io.fairgate.tenant.TenantId;

/**
 * Permits in the hands of a caller, who has to give them back. Where the work is a {@code Mono} or {@code Flux},
 * {@link PermitPool#withPermit} gives them back by itself, whatever happens, and is to be preferred.
 *
 * <p>May be released by any thread, and any number of times: only the first counts. Releasing never blocks.
 */
public interface HeldPermits extends AutoCloseable {

    TenantId tenant();

    int permits();

    /** False once they were released, or taken back because they were held for too long. */
    boolean isHeld();

    /** Gives the permits back; whoever is next gets them. */
    void release();

    /** The same as {@link #release}. */
    @Override
    default void close() {
        release();
    }
}
