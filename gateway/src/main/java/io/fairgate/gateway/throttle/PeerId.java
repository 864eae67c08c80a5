package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;

/**
 * Identifies a peer.
 *
 * @param owner the owner that made the request
 * @param number 64 bits, unsigned
 */
record PeerId(PeerOwner owner, long number) {

    LeaseId lease() {
        return new LeaseId(owner.family(), number);
    }
}
