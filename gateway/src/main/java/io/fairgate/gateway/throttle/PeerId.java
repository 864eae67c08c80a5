package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;

/**
 * A peer, and who says so.
 *
 * @param tenant whose request it is; to all but the tenant that made it, the peer is unknown
 * @param number of 64 bits, unsigned
 */
record PeerId(TenantId tenant, long number) {

    LeaseId lease() {
        return new LeaseId(0, number);
    }
}
