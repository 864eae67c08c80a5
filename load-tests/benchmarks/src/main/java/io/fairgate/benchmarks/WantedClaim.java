package io.fairgate.benchmarks;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.tenant.TenantId;

/** A claim to one permit that takes what it is granted. */
final class WantedClaim extends QueuedRequest {

    WantedClaim(TenantId tenant) {
        super(tenant, null, 1);
    }

    @Override
    protected boolean accept() {
        return true;
    }
}
