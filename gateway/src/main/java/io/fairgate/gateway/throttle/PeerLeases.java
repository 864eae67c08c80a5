package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.embedded.Leases;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The leases that are peers, with what pays for their locks. Other leases may be among them, of which it takes no notice.
 *
 * <p>From any thread; blocks none.
 */
public final class PeerLeases {

    private final Leases leases;
    /** By semaphore; that of a lock that was given back stays until the lock is asked for again, or the peer ends. */
    private final Map<Peer, Map<String, Mono<Void>>> charges = new ConcurrentHashMap<>();

    private final Set<Peer> restoring = ConcurrentHashMap.newKeySet();

    /** A number may be that of another peer as soon as one has ended, and before everybody has heard of that. */
    private record Peer(LeaseId id, long serial) {
        static Peer of(LeaseStatus lease) {
            return new Peer(lease.id(), lease.serial());
        }
    }

    /** @param leases makes the leases; they have to tell their listener what becomes of them */
    public PeerLeases(Function<LeaseListener, Leases> leases) {
        this.leases = leases.apply(new Followed());
    }

    Leases all() {
        return leases;
    }

    /**
     * What pays for a lock that is held or asked for. Whoever is answered that it is held subscribes to this first. Empty for
     * a lock that nothing pays for.
     */
    Mono<Void> charge(LeaseStatus peer, String semaphore) {
        return charges.getOrDefault(Peer.of(peer), Map.of()).getOrDefault(semaphore, Mono.empty());
    }

    /**
     * Locks are asked for, and are paid for when they are granted, whether anybody waits for them or not. What cannot be paid
     * for is given back.
     *
     * @param semaphores all those of one request, which costs one unit
     * @param peer as it stands; the lock of the leases is held
     */
    Mono<Void> payFor(LeaseStatus peer, Set<String> semaphores, Tenants.Charge charge) {
        restoring.remove(Peer.of(peer));
        if (charge.equals(Tenants.Charge.NONE)) {
            return charge.made();
        }
        Mono<Void> made = charge.made()
                .doOnError(unpaid -> semaphores.forEach(semaphore -> giveBack(peer.id(), semaphore)))
                .cache();
        Map<String, Mono<Void>> own = charges.computeIfAbsent(Peer.of(peer), first -> new ConcurrentHashMap<>());
        semaphores.forEach(semaphore -> own.put(semaphore, made));
        return made;
    }

    /** The same of the locks that a peer says it held before a restart. */
    void restore(LeaseStatus peer, Set<String> semaphores, Tenants.Charge charge) {
        var unused = payFor(peer, semaphores, charge);
        restoring.add(Peer.of(peer));
    }

    /** Whether the locks that a peer asked for last are those that it says it held before a restart. */
    boolean isRestoring(LeaseStatus peer) {
        return restoring.contains(Peer.of(peer));
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
            restoring.remove(Peer.of(lease));
            // Nobody may be waiting for the answer; who does hears the same.
            var unused = charge(lease, permits.pool()).subscribe(nothing -> {}, unpaid -> {});
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            charges.remove(Peer.of(lease));
            restoring.remove(Peer.of(lease));
        }
    }
}
