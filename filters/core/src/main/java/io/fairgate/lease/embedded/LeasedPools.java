package io.fairgate.lease.embedded;


import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import org.jspecify.annotations.Nullable;

/**
 * The pools whose permits are leased. Which there are, and for how long they lease, may change meanwhile: they are asked each
 * time. By any thread, and some of them hold the lock of {@link Leases}, so that the answer must be at hand.
 */
@FunctionalInterface
public interface LeasedPools {

    /** Null when there is none of that name. */
    @Nullable
    PermitPool find(String name);

    /** For how long its permits are leased at most; each lease is bounded by all pools of which it holds any. */
    default LeaseBounds bounds(String pool) {
        return LeaseBounds.WIDEST;
    }
}
