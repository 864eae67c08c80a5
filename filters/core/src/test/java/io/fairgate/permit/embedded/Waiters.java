package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;

/** Waiters that are put somewhere and found there, and to which nothing happens. */
final class Waiters {

    private static final EmbeddedPermitPool POOL =
            new EmbeddedPermitPool("test", PoolSettings.ofPermits(1), TenantShares.EQUAL);

    private Waiters() {}

    static Waiter create() {
        return new Waiter(POOL, Acquisition.IMMEDIATE, PermitRequest.of("a"), 0);
    }
}
