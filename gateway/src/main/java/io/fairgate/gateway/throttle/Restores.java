package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.PoolSettings;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Restores peers that return after a restart of this server and say what they hold.
 *
 * <p>They cannot prove it, so their locks are acquired like any other: at once if they are free, otherwise all together
 * through the queue. A client treats the answer 202 as success: it continues its work and sends heartbeats, and its locks are
 * counted as soon as there is room for them.
 */
final class Restores {

    private final Peers peers;
    private final RestoringPeers restoring;
    private final Tenants tenants;
    private final AtomicLong pending = new AtomicLong();

    Restores(Peers peers, RestoringPeers restoring, Tenants tenants) {
        this.peers = peers;
        this.restoring = restoring;
        this.tenants = tenants;
    }

    long pending() {
        return pending.get();
    }

    /**
     * Restores a peer. Fails with {@link ThrottleError}, and then has changed nothing.
     *
     * @param charge the charge for the locks; subscribed to when there are any
     * @return whether the peer holds these locks; otherwise they are pending
     */
    Mono<Boolean> restore(PeerId peer, JsonBody.Restored restored, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            Map<String, Integer> locks = checked(restored.acquired());
            return unchanged(peer, locks)
                    .switchIfEmpty(Mono.defer(() -> restoreNew(peer, restored.expiresIn(), locks, charge)))
                    // Another call has opened and released it meanwhile.
                    .switchIfEmpty(Mono.error(ThrottleError.CHANGE_THROUGH_RESTORE));
        });
    }

    private Mono<Boolean> restoreNew(
            PeerId peer, Duration expiresIn, Map<String, Integer> locks, Mono<Tenants.Charge> charge) {
        locks.forEach((semaphore, count) -> peers.requireSemaphore(semaphore).requireCount(count));
        return peers.requireRoom(peer.owner())
                .then(opened(peer, expiresIn, locks, charge))
                .doOnNext(isHeld -> count(peer.owner(), locks, isHeld))
                .switchIfEmpty(Mono.defer(() -> unchanged(peer, locks)));
    }

    /** Opens a peer and acquires its locks, all of them together; empty when a peer with this number exists. */
    private Mono<Boolean> opened(
            PeerId peer, Duration expiresIn, Map<String, Integer> locks, Mono<Tenants.Charge> charge) {
        Mono<Boolean> opened = peers.open(peer, expiresIn).filter(isOpen -> isOpen);
        return locks.isEmpty()
                ? opened
                : charge.flatMap(checked -> opened.flatMap(isOpen -> acquireAll(peer, locks, checked)));
    }

    private Mono<Boolean> acquireAll(PeerId peer, Map<String, Integer> locks, Tenants.Charge charge) {
        LeaseRequest request = new LeaseRequest(locks, Duration.ZERO, null);
        return peers.leases()
                .acquire(peer.lease(), request, status -> {
                    restoring.add(status);
                    return charge.made();
                })
                .flatMap(held -> held ? Mono.just(true) : heldAfterAll(peer, locks.keySet()))
                .onErrorMap(e -> Peers.translated(e, Collections.max(locks.values())))
                .onErrorResume(e -> peers.release(peer).then(Mono.error(e)))
                .doOnCancel(() -> peers.release(peer).subscribe());
    }

    private Mono<Boolean> heldAfterAll(PeerId peer, Set<String> semaphores) {
        return Flux.fromIterable(semaphores).concatMap(peers::settled).then(peers.isNothingPending(peer));
    }

    private void count(PeerOwner owner, Map<String, Integer> locks, boolean isHeld) {
        pending.addAndGet(isHeld ? 0 : 1);
        if (!locks.isEmpty()) {
            tenants.restored(owner);
        }
    }

    /** The counts of the locks as permits, after a check that the semaphores exist and the counts are possible. */
    private Map<String, Integer> checked(Map<String, Long> acquired) {
        acquired.keySet().forEach(peers::requireSemaphore);
        Map<String, Integer> locks = new HashMap<>();
        acquired.forEach((semaphore, count) -> locks.put(semaphore, permits(count)));
        return locks;
    }

    private static int permits(long count) {
        if (count < 1) {
            throw ThrottleError.invalidLockCount(count);
        }
        if (count > PoolSettings.MAX_PERMITS) {
            throw ThrottleError.never(count, PoolSettings.MAX_PERMITS);
        }
        return (int) count;
    }

    /** An existing peer may only repeat what it holds or restores. That does not extend its expiry. Empty for a new peer. */
    private Mono<Boolean> unchanged(PeerId peer, Map<String, Integer> locks) {
        return peers.status(peer).map(status -> {
            LeaseStatus.Waiting waiting = status.waiting();
            boolean isSame = waiting == null
                    ? held(status).equals(locks)
                    : restoring.contains(status) && waiting.permits().equals(locks);
            if (!isSame) {
                throw ThrottleError.CHANGE_THROUGH_RESTORE;
            }
            return waiting == null;
        });
    }

    private static Map<String, Integer> held(LeaseStatus status) {
        return status.held().stream().collect(Collectors.toMap(LeaseStatus.Held::pool, LeaseStatus.Held::permits));
    }
}
