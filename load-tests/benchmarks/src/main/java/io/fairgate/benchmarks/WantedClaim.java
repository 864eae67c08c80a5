package io.fairgate.benchmarks;

import io.fairgate.fairness.Claim;
import io.fairgate.tenant.TenantId;

/** A claim to one permit that takes what it is granted. */
final class WantedClaim extends Claim {

    WantedClaim(TenantId tenant) {
        super(tenant, 1);
    }

    @Override
    protected boolean accept() {
        return true;
    }
}
