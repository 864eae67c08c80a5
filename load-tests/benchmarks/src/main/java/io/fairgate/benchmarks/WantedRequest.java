package io.fairgate.benchmarks;

import io.fairgate.fairness.QueuedRequest;
import io.fairgate.tenant.TenantId;

/** A request for one permit that takes what it is granted. */
final class WantedRequest extends QueuedRequest {

    WantedRequest(TenantId tenant) {
        super(tenant, null, 1);
    }

    @Override
    protected boolean accept() {
        return true;
    }
}
