package io.fairgate.gateway.throttle;

import io.fairgate.tenant.TenantId;

/**
 * The owner of peers. It sees only its own peers: a peer of another owner has a different lease id, and so is unknown to it.
 *
 * @param tenant the tenant that the permits are counted for
 * @param family the high half of the ids of its peers' leases (the number of the peer is the low half); no other owner has
 *     the same, and it cannot be guessed
 * @param holder the label of its leases, for operators
 */
public record PeerOwner(TenantId tenant, long family, String holder) {}
