package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;

/** Identifies a peer by the owner that made the request, and an unsigned number of 64 bits. */
record PeerId(PeerOwner owner, long number) {

    LeaseId lease() {
        return new LeaseId(owner.family(), number);
    }
}
