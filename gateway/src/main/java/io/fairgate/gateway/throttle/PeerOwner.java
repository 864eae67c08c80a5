package io.fairgate.gateway.throttle;

import io.fairgate.tenant.TenantId;

/**
 * Who has peers, and sees none but its own: a peer of somebody else is under another id, and so is unknown to it.
 *
 * @param tenant whose permits the peers take
 * @param family the high half of the ids of its peers' leases, of which the number of a peer is the low one; nobody else has
 *     it, and nobody can guess it
 * @param holder what its leases are called for those who look at them
 */
public record PeerOwner(TenantId tenant, long family, String holder) {}
