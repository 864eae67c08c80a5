package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeaseUnpaidException;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The operations on peers. A peer is a lease, and its number is the low half of the lease's id. The locks that it has
 * acquired are the grants of that lease, and its pending locks are what the lease waits for. Leases and pools do everything
 * else: the queue, the expiry at the exact moment, and the choice of the next holder.
 *
 * <p>A peer belongs to its owner: for any other owner it is an unknown peer.
 *
 * <p>All methods, and their Monos when subscribed to, fail with a {@link ThrottleError} if the request is wrong.
 * Thread-safe; no method blocks.
 */
record Peers(Leases leases, Semaphores semaphores, ThrottleSettings settings) {

    /** Creates a peer that holds nothing, and emits its number. It is no secret, because other owners cannot use it. */
    Mono<Long> create(PeerOwner owner, Duration expiresIn) {
        return requireRoom(owner)
                .then(Mono.defer(() -> {
                            PeerId peer = new PeerId(
                                    owner, ThreadLocalRandom.current().nextLong());
                            return open(peer, expiresIn)
                                    .filter(isOpen -> isOpen)
                                    .thenReturn(peer.number());
                        })
                        .repeatWhenEmpty(attempts -> attempts));
    }

    /** Opens the lease of a peer; false when a peer with this number exists. */
    Mono<Boolean> open(PeerId peer, Duration expiresIn) {
        LeaseTerm term = new LeaseTerm(settings.term(expiresIn), settings.longestHold());
        return leases.open(peer.lease(), peer.owner().holder(), term);
    }

    Mono<Void> requireRoom(PeerOwner owner) {
        return Mono.zip(
                        leases.count(),
                        leases.count(owner.tenant()),
                        (all, own) -> all.open() < settings.mostPeers() && own < settings.mostPeersOfOne())
                .flatMap(hasRoom -> hasRoom ? Mono.empty() : Mono.error(ThrottleError.TOO_MANY_PEERS));
    }

    /** In no particular order. */
    Flux<Long> all(PeerOwner owner) {
        return leases.ids(owner.tenant())
                .filter(id -> id.high() == owner.family())
                .map(LeaseId::low);
    }

    Mono<Void> heartbeat(PeerId peer, Duration expiresIn) {
        return leases.extend(peer.lease(), settings.term(expiresIn))
                .switchIfEmpty(Mono.error(ThrottleError.UNKNOWN_PEER))
                .then();
    }

    /** Releases everything that a peer holds or waits for; false when there is no such peer. */
    Mono<Boolean> release(PeerId peer) {
        return leases.release(peer.lease());
    }

    Mono<Boolean> isAcquired(PeerId peer) {
        return require(peer).flatMap(status -> {
            LeaseStatus.Waiting waiting = status.waiting();
            return waiting == null ? Mono.just(true) : settled(waiting.pool()).then(isNothingPending(peer));
        });
    }

    Mono<Boolean> isNothingPending(PeerId peer) {
        return require(peer).map(status -> status.waiting() == null);
    }

    /** Empty when there is no such peer. */
    Mono<LeaseStatus> status(PeerId peer) {
        return leases.status(peer.lease());
    }

    Mono<LeaseStatus> require(PeerId peer) {
        return status(peer).switchIfEmpty(Mono.error(ThrottleError.UNKNOWN_PEER));
    }

    /** Releases a lock, or its place in the queue; has no effect when the peer does not have the lock. */
    Mono<Void> releaseLock(PeerId peer, String semaphore) {
        requireSemaphore(semaphore);
        return leases.release(peer.lease(), semaphore)
                .onErrorMap(LeaseGoneException.class, e -> ThrottleError.UNKNOWN_PEER)
                .then();
    }

    Semaphore requireSemaphore(String name) {
        Semaphore semaphore = semaphores.find(name);
        if (semaphore == null) {
            throw ThrottleError.UNKNOWN_SEMAPHORE;
        }
        return semaphore;
    }

    /**
     * Completes when the pool has processed all earlier requests. Another thread may be processing them, and grant what is free
     * a moment later; the answer must not be "pending" then.
     */
    Mono<Void> settled(String semaphore) {
        Semaphore found = semaphores.find(semaphore);
        return found == null ? Mono.empty() : found.pool().inFlight().then();
    }

    /** The error of the protocol for an error of leases or pools. */
    static Throwable translated(Throwable error, long count) {
        if (error instanceof LeaseGoneException) {
            return ThrottleError.UNKNOWN_PEER;
        }
        if (error instanceof LeaseUnpaidException) {
            return ThrottleError.QUOTA_USED_UP; // The lock waited at another gateway.
        }
        if (error instanceof IllegalStateException) {
            return ThrottleError.ALREADY_PENDING; // Another call has requested another lock meanwhile.
        }
        if (error instanceof PermitRefusedException refused) {
            return switch (refused.reason()) {
                case TOO_LARGE -> ThrottleError.neverForThisTenant(count);
                case DRAINING -> ThrottleError.POOL_SHUTTING_DOWN;
                default -> ThrottleError.TOO_MANY_PENDING;
            };
        }
        return error;
    }
}
