package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The leases that are peers, with what is noted of them beside: which of them are whose, and what pays for their locks. Other
 * leases may be among them, of which it takes no notice.
 *
 * <p>From any thread; blocks none.
 */
public final class PeerLeases {

    private final Leases leases;
    private final Map<Long, Set<Long>> numbers = new ConcurrentHashMap<>();
    /** By peer and semaphore; that of a lock that was given back stays until the lock is asked for again, or the peer ends. */
    private final Map<LeaseId, Map<String, Mono<Void>>> charges = new ConcurrentHashMap<>();

    /** @param leases the leases; they have to tell their listener what becomes of them */
    public PeerLeases(Function<LeaseListener, Leases> leases) {
        this.leases = leases.apply(new Followed());
    }

    Leases all() {
        return leases;
    }

    /** Opens the lease of a peer; false when there is one with this number. */
    boolean open(PeerId peer, LeaseTerm term) {
        note(peer);
        return leases.open(peer.lease(), peer.owner().tenant(), peer.owner().holder(), term);
    }

    /** Opens one that holds locks already ({@link Leases#restore}); false when there is one with this number. */
    Mono<Boolean> restore(PeerId peer, LeaseTerm term, Map<String, Integer> locks) {
        return Mono.defer(() -> {
            note(peer);
            return leases.restore(
                    peer.lease(), peer.owner().tenant(), peer.owner().holder(), term, locks);
        });
    }

    /** Before it is there, because it may be over as soon as it is. */
    private void note(PeerId peer) {
        numbers.compute(peer.owner().family(), (family, before) -> {
            Set<Long> all = before == null ? ConcurrentHashMap.newKeySet() : before;
            all.add(peer.number());
            return all;
        });
    }

    /** The numbers of the peers of an owner, in no order. */
    Set<Long> numbers(PeerOwner owner) {
        return numbers.getOrDefault(owner.family(), Set.of());
    }

    /**
     * What pays for a lock that is held or asked for. Whoever is answered that it is held subscribes to this first. Empty for
     * a lock that nothing pays for.
     */
    Mono<Void> charge(LeaseId peer, String semaphore) {
        return charges.getOrDefault(peer, Map.of()).getOrDefault(semaphore, Mono.empty());
    }

    /**
     * A lock is asked for, and is paid for when it is granted, whether anybody waits for it or not. One that cannot be paid
     * for is given back.
     */
    Mono<Void> payFor(LeaseId peer, String semaphore, Tenants.Charge charge) {
        if (charge.equals(Tenants.Charge.NONE)) {
            return charge.made();
        }
        Mono<Void> made =
                charge.made().doOnError(unpaid -> giveBack(peer, semaphore)).cache();
        charges.computeIfAbsent(peer, first -> new ConcurrentHashMap<>()).put(semaphore, made);
        return made;
    }

    private void giveBack(LeaseId peer, String semaphore) {
        try {
            leases.giveBack(peer, semaphore);
        } catch (LeaseGoneException over) {
            // It has been given back with the peer.
        }
    }

    /** Hears of every lease; of one that is no peer nothing is noted. */
    private final class Followed implements LeaseListener {

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            // Nobody may be waiting for the answer; who does hears the same.
            var unused = charge(lease.id(), permits.pool()).subscribe(nothing -> {}, unpaid -> {});
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            charges.remove(lease.id());
            numbers.computeIfPresent(lease.id().high(), (family, all) -> {
                all.remove(lease.id().low());
                return all.isEmpty() ? null : all;
            });
        }
    }
}
