package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The charges for the locks of peers. Gets the events of all leases, and ignores those that are no peers.
 *
 * <p>Thread-safe; no method blocks.
 */
final class LockCharges implements LeaseListener {

    private final Leases leases;
    /** By semaphore. The charge of a released lock stays until the lock is requested again, or the peer ends. */
    private final Map<Peer, Map<String, Mono<Void>>> charges = new ConcurrentHashMap<>();

    private final Set<Peer> restoring = ConcurrentHashMap.newKeySet();

    /** The serial tells peers with the same number apart: a number may be reused before all have noticed the peer's end. */
    private record Peer(LeaseId id, long serial) {
        static Peer of(LeaseStatus lease) {
            return new Peer(lease.id(), lease.serial());
        }
    }

    LockCharges(Leases leases) {
        this.leases = leases;
        leases.listen(this);
    }

    /** The charge of a lock, if it has one. An answer that the lock is held must subscribe to it first. */
    Mono<Void> charge(LeaseStatus peer, String semaphore) {
        return charges.getOrDefault(Peer.of(peer), Map.of()).getOrDefault(semaphore, Mono.empty());
    }

    /**
     * Registers the charge of requested locks. It is made when they are granted, whether or not a call waits for them. If the
     * charge is refused, the locks are released.
     *
     * @param semaphores all those of one request, which costs one unit
     * @param peer its current state; called while the lock of the leases is held
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

    /** Like {@link #payFor}, for locks that a peer says it held before a restart. */
    void restore(LeaseStatus peer, Set<String> semaphores, Tenants.Charge charge) {
        var unused = payFor(peer, semaphores, charge);
        restoring.add(Peer.of(peer));
    }

    /** Whether the last locks that a peer requested are those that it says it held before a restart. */
    boolean isRestoring(LeaseStatus peer) {
        return restoring.contains(Peer.of(peer));
    }

    /** True when the charges of these locks have been made. */
    Mono<Boolean> paid(LeaseStatus peer, Set<String> semaphores) {
        return Flux.fromIterable(semaphores)
                .concatMap(semaphore -> charge(peer, semaphore))
                .then(Mono.just(true));
    }

    private void giveBack(LeaseId peer, String semaphore) {
        // If the peer does not exist, the lock was released together with it.
        var unused = leases.release(peer, semaphore)
                .onErrorComplete(LeaseGoneException.class)
                .subscribe();
    }

    @Override
    public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
        restoring.remove(Peer.of(lease));
        // Charges even if no call waits for the answer. A call that waits gets the same result.
        var unused = charge(lease, permits.pool()).subscribe(nothing -> {}, unpaid -> {});
    }

    @Override
    public void ended(LeaseStatus lease, End how) {
        charges.remove(Peer.of(lease));
        restoring.remove(Peer.of(lease));
    }
}
