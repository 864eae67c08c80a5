package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.PoolSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * Peers that come back after a restart of this server, and say what they hold.
 *
 * <p>They have no proof of it, so their locks are acquired like any other: at once where they are free, otherwise they wait
 * in the queue, all of them together. A client that is answered 202 takes that for success: it works on, sends heartbeats,
 * and its locks are counted as soon as there is room for them.
 */
final class Restores {

    private final Peers peers;
    private final Tenants tenants;
    private final AtomicLong pending = new AtomicLong();

    Restores(Peers peers, Tenants tenants) {
        this.peers = peers;
        this.tenants = tenants;
    }

    /** How many had to wait. */
    long pending() {
        return pending.get();
    }

    /**
     * Fails with {@link ThrottleError}, and has changed nothing then.
     *
     * @param charge pays for the locks
     * @return whether the peer holds these locks; otherwise they are pending
     */
    Mono<Boolean> restore(PeerId peer, Duration expiresIn, Map<String, Integer> locks, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            if (peers.status(peer) != null) {
                return unchanged(peer, locks);
            }
            locks.forEach(
                    (semaphore, count) -> peers.requireSemaphore(semaphore).requireCount(count));
            return peers.restore(peer, expiresIn, locks, charge)
                    .doOnNext(isHeld -> count(peer.owner(), locks, isHeld))
                    .switchIfEmpty(Mono.defer(() -> unchanged(peer, locks)));
        });
    }

    private void count(PeerOwner owner, Map<String, Integer> locks, boolean isHeld) {
        pending.addAndGet(isHeld ? 0 : 1);
        if (!locks.isEmpty()) {
            tenants.restored(owner);
        }
    }

    /** What a peer may have, as the semaphores are counted. */
    Map<String, Integer> checked(Map<String, Long> acquired) {
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

    /** A peer that is there may say again what it holds or restores, and nothing else; it lives no longer by that. */
    private Mono<Boolean> unchanged(PeerId peer, Map<String, Integer> locks) {
        return Mono.fromCallable(() -> {
            LeaseStatus status = peers.status(peer);
            if (status == null) {
                throw ThrottleError.changeThroughRestore();
            }
            LeaseStatus.Waiting waiting = status.waiting();
            boolean isSame = waiting == null
                    ? held(status).equals(locks)
                    : peers.isRestoring(status) && waiting.permits().equals(locks);
            if (!isSame) {
                throw ThrottleError.changeThroughRestore();
            }
            return waiting == null;
        });
    }

    private static Map<String, Integer> held(LeaseStatus status) {
        Map<String, Integer> held = new HashMap<>();
        status.held().forEach(each -> held.put(each.pool(), each.permits()));
        return held;
    }
}
