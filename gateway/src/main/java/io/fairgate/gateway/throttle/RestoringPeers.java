package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The peers that wait for the locks that they say they held before a restart. Gets the events of all leases, and ignores those that
 * are no such peers. With several gateways, only the one that was asked to restore a peer knows it.
 *
 * <p>Thread-safe; no method blocks.
 */
final class RestoringPeers implements LeaseListener {

    private static final int MOST = 100_000;

    /** The latest ones: another gateway may end a peer, and this one does not learn of it. */
    private final Set<Peer> restoring = Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Peer, Boolean> eldest) {
            return size() > MOST;
        }
    }));

    /** The serial tells peers with the same number apart: a number may be reused before all have noticed the peer's end. */
    private record Peer(LeaseId id, long serial) {
        static Peer of(LeaseStatus lease) {
            return new Peer(lease.id(), lease.serial());
        }
    }

    RestoringPeers(Leases leases) {
        leases.listen(this);
    }

    void add(LeaseStatus peer) {
        restoring.add(Peer.of(peer));
    }

    /** The peer requests other locks. */
    void remove(LeaseStatus peer) {
        restoring.remove(Peer.of(peer));
    }

    boolean contains(LeaseStatus peer) {
        return restoring.contains(Peer.of(peer));
    }

    @Override
    public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
        remove(lease);
    }

    @Override
    public void ended(LeaseStatus lease, End how) {
        remove(lease);
    }
}
