package io.fairgate.lease;

import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import org.jspecify.annotations.Nullable;

/**
 * The pools whose permits are leased. The pools and their bounds may change at any time; {@link Leases} looks them up each
 * time. Any thread may call this, also under a lock of the leases: implementations must not block.
 */
@FunctionalInterface
public interface LeasedPools {

    /** The pool with this name; null when no pool has it. */
    @Nullable
    PermitPool find(String name);

    /** The bounds of leases of a pool's permits; a lease is bounded by all pools of which it holds permits. */
    default LeaseBounds bounds(String pool) {
        return LeaseBounds.WIDEST;
    }
}
