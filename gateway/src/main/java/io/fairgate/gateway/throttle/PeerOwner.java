package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.tenant.TenantId;

/**
 * The owner of peers. It sees only its own peers: a peer of another owner has a different lease id, and so is unknown to it.
 *
 * @param holder the holder of its leases
 * @param family the high half of the ids of its peers' leases (the number of the peer is the low half); no other owner has
 *     the same, and it cannot be guessed
 */
public record PeerOwner(LeaseHolder holder, long family) {

    public TenantId tenant() {
        return holder.tenant();
    }
}
