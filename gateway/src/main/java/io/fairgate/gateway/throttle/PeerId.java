package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;

/**
 * A peer.
 *
 * @param owner whose request it is
 * @param number of 64 bits, unsigned
 */
record PeerId(PeerOwner owner, long number) {

    LeaseId lease() {
        return new LeaseId(owner.family(), number);
    }
}
