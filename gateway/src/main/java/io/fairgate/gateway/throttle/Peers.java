package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

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
final class Peers {

    private final PeerLeases peers;
    private final Leases leases;
    private final Semaphores semaphores;
    private final ThrottleSettings settings;
    private final Scheduler time;

    Peers(PeerLeases peers, Semaphores semaphores, ThrottleSettings settings, Scheduler time) {
        this.peers = peers;
        this.leases = peers.all();
        this.semaphores = semaphores;
        this.settings = settings;
        this.time = time;
    }

    /** A lock that is requested. */
    record Lock(String semaphore, long count) {}

    /**
     * The times of a request for a lock.
     *
     * @param expiresIn when the peer expires, from now on; null to leave that unchanged
     * @param blockFor how long to wait for the lock
     */
    record Patience(@Nullable Duration expiresIn, Duration blockFor) {}

    // ---- peers ----

    /** Creates a peer that holds nothing, and emits its number. It is no secret, because other owners cannot use it. */
    Mono<Long> create(PeerOwner owner, Duration expiresIn) {
        return requireRoom(owner)
                .then(Mono.defer(() -> {
                            PeerId peer = new PeerId(owner, ThreadLocalRandom.current().nextLong());
                            return open(peer, expiresIn).filter(isOpen -> isOpen).thenReturn(peer.number());
                        })
                        .repeatWhenEmpty(attempts -> attempts));
    }

    /** Opens the lease of a peer; false when a peer with this number exists. */
    Mono<Boolean> open(PeerId peer, Duration expiresIn) {
        return leases.open(peer.lease(), peer.owner().tenant(), peer.owner().holder(), term(expiresIn));
    }

    /**
     * Opens a peer and acquires locks for it, all of them together; changes nothing when a charge or a pool refuses.
     *
     * @param charge subscribed to when there are locks to be charged
     * @return whether the locks are held; otherwise they are pending. Empty when a peer with this number exists
     */
    Mono<Boolean> restore(PeerId peer, Duration expiresIn, Map<String, Integer> locks, Mono<Tenants.Charge> charge) {
        Mono<Boolean> opened = open(peer, expiresIn).filter(isOpen -> isOpen);
        return requireRoom(peer.owner())
                .then(
                        locks.isEmpty()
                                ? opened
                                : charge.flatMap(checked -> opened.flatMap(open -> acquireAll(peer, locks, checked))));
    }

    private Mono<Boolean> acquireAll(PeerId peer, Map<String, Integer> locks, Tenants.Charge charge) {
        LeaseRequest request = new LeaseRequest(locks, Duration.ZERO, null);
        return leases.acquire(peer.lease(), request, status -> peers.restore(status, locks.keySet(), charge))
                .flatMap(held -> held ? Mono.just(true) : heldAfterAll(peer, locks.keySet()))
                .flatMap(held -> held ? paid(peer, locks.keySet()) : Mono.just(false))
                .onErrorMap(e -> translated(e, Collections.max(locks.values())))
                .onErrorResume(e -> release(peer).then(Mono.error(e)))
                .doOnCancel(() -> release(peer).subscribe());
    }

    private Mono<Boolean> heldAfterAll(PeerId peer, Set<String> semaphores) {
        return Flux.fromIterable(semaphores)
                .concatMap(this::settled)
                .then(isNothingPending(peer));
    }

    private Mono<Boolean> isNothingPending(PeerId peer) {
        return require(peer).map(status -> status.waiting() == null);
    }

    /** Whether a peer waits for the locks that it held before a restart. */
    boolean isRestoring(LeaseStatus peer) {
        return peer.waiting() != null && peers.isRestoring(peer);
    }

    private Mono<Void> requireRoom(PeerOwner owner) {
        return Mono.zip(leases.count(), leases.count(owner.tenant()), (all, own) -> all.open() < settings.mostPeers()
                        && own < settings.mostPeersOfOne())
                .flatMap(hasRoom -> hasRoom ? Mono.empty() : Mono.error(ThrottleError.tooManyPeers()));
    }

    private LeaseTerm term(Duration expiresIn) {
        return new LeaseTerm(settings.term(expiresIn), settings.longestHold());
    }

    /** In no particular order. */
    Flux<Long> all(PeerOwner owner) {
        return leases.ids(owner.tenant())
                .filter(id -> id.high() == owner.family())
                .map(LeaseId::low);
    }

    Mono<Void> heartbeat(PeerId peer, Duration expiresIn) {
        return leases.extend(peer.lease(), settings.term(expiresIn))
                .switchIfEmpty(Mono.error(ThrottleError::unknownPeer))
                .then();
    }

    /** Releases everything that a peer holds or waits for; false when there is no such peer. */
    Mono<Boolean> release(PeerId peer) {
        return leases.release(peer.lease());
    }

    /** Whether nothing is pending. */
    Mono<Boolean> isAcquired(PeerId peer) {
        return require(peer).flatMap(status -> {
            LeaseStatus.Waiting waiting = status.waiting();
            return waiting == null ? Mono.just(true) : settled(waiting.pool()).then(isNothingPending(peer));
        });
    }

    /** Empty when there is no such peer. */
    Mono<LeaseStatus> status(PeerId peer) {
        return leases.status(peer.lease());
    }

    private Mono<LeaseStatus> require(PeerId peer) {
        return status(peer).switchIfEmpty(Mono.error(ThrottleError::unknownPeer));
    }

    // ---- locks ----

    /** Releases a lock, or its place in the queue; has no effect when the peer does not have the lock. */
    Mono<Void> releaseLock(PeerId peer, String semaphore) {
        requireSemaphore(semaphore);
        return leases.release(peer.lease(), semaphore)
                .onErrorMap(LeaseGoneException.class, e -> ThrottleError.unknownPeer())
                .then();
    }

    /**
     * Requests a lock, or continues to wait for it.
     *
     * @param charge subscribed to when the lock is a new one
     * @return whether nothing is pending any more. When it is false the lock keeps its place in the queue; it also keeps it
     *     when this is cancelled
     */
    Mono<Boolean> acquire(PeerId peer, Lock lock, Patience patience, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            requireSemaphore(lock.semaphore).requireCount(lock.count);
            Mono<Void> extended = patience.expiresIn == null ? Mono.empty() : heartbeat(peer, patience.expiresIn);
            return extended.then(acquireExtended(peer, lock, patience.blockFor, charge));
        });
    }

    private Mono<Boolean> acquireExtended(PeerId peer, Lock lock, Duration blockFor, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            if (lock.count < 1) {
                throw ThrottleError.invalidLockCount(lock.count);
            }
            Duration block = settings.block(blockFor);
            long until = time.now(TimeUnit.NANOSECONDS) + block.toNanos();
            LeaseRequest request = LeaseRequest.of(lock.semaphore, (int) lock.count, block, null);
            return ask(peer, requireSemaphore(lock.semaphore), request, charge)
                    .onErrorResume(
                            StillRestoring.class,
                            other -> waitFor(peer, other.request(block))
                                    .flatMap(held -> held
                                            ? acquire(peer, lock, new Patience(null, left(until)), charge)
                                            : Mono.just(false)))
                    .onErrorResume(PendingElsewhere.class, other -> waitFor(peer, other.request(block)))
                    .flatMap(held -> held ? Mono.just(true) : notYet(peer, lock.semaphore, until))
                    .onErrorMap(e -> translated(e, lock.count));
        });
    }

    /** A lock that is already held or pending is not charged again. */
    private Mono<Boolean> ask(PeerId peer, Semaphore semaphore, LeaseRequest request, Mono<Tenants.Charge> charge) {
        return require(peer)
                .flatMap(status -> isNew(status, semaphore, request)
                        ? charge.flatMap(checked -> take(peer, semaphore, request, checked))
                        : take(peer, semaphore, request, null))
                .onErrorResume(NewMeanwhile.class, again -> ask(peer, semaphore, request, charge));
    }

    private Mono<Boolean> take(
            PeerId peer, Semaphore semaphore, LeaseRequest request, Tenants.@Nullable Charge charge) {
        AtomicReference<Mono<Void>> paid = new AtomicReference<>(Mono.empty());
        return leases.acquire(peer.lease(), request, status -> {
                    if (!isNew(status, semaphore, request)) {
                        paid.set(peers.charge(status, semaphore.name()));
                    } else if (charge == null) {
                        throw new NewMeanwhile();
                    } else {
                        paid.set(peers.payFor(status, Set.of(semaphore.name()), charge));
                    }
                })
                .flatMap(held -> held ? Objects.requireNonNull(paid.get()).thenReturn(true) : Mono.just(false));
    }

    /** The lock existed, and was released before it could be requested again. */
    private static final class NewMeanwhile extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NewMeanwhile() {
            super("given back meanwhile", null, false, false);
        }
    }

    Semaphore requireSemaphore(String name) {
        Semaphore semaphore = semaphores.find(name);
        if (semaphore == null) {
            throw ThrottleError.unknownSemaphore();
        }
        return semaphore;
    }

    /** Whether the peer requests this lock for the first time, and may do so; false for a repeated request. */
    private boolean isNew(LeaseStatus status, Semaphore semaphore, LeaseRequest request) {
        int count = request.permits().getOrDefault(semaphore.name(), 0);
        LeaseStatus.Held held = status.held(semaphore.name());
        LeaseStatus.Waiting waiting = status.waiting();
        if (waiting != null && isRestoring(status) && !waiting.permits().equals(request.permits())) {
            throw new StillRestoring(waiting);
        }
        int pending = waiting == null ? 0 : waiting.permits().getOrDefault(semaphore.name(), 0);
        int demanded = held == null ? pending : held.permits();
        if (demanded == 0) {
            requireOrder(status, semaphore);
        } else if (count < demanded) {
            throw ThrottleError.shrinkingLockCount();
        } else if (count > demanded) {
            throw ThrottleError.deadlock(semaphore.level(), semaphore.level());
        } else if (held != null && waiting != null) {
            throw new PendingElsewhere(waiting);
        }
        return demanded == 0;
    }

    private void requireOrder(LeaseStatus status, Semaphore semaphore) {
        OptionalInt current = status.held().stream()
                .map(held -> semaphores.find(held.pool()))
                .filter(Objects::nonNull)
                .mapToInt(Semaphore::level)
                .min();
        if (current.isPresent() && current.getAsInt() <= semaphore.level()) {
            throw ThrottleError.deadlock(current.getAsInt(), semaphore.level());
        }
        if (status.waiting() != null) {
            throw ThrottleError.alreadyPending();
        }
    }

    /** The peer requests a lock again that it holds, while another one is pending. Then the call waits for that one. */
    private static class PendingElsewhere extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient LeaseStatus.Waiting waiting;

        PendingElsewhere(LeaseStatus.Waiting waiting) {
            super("waits for " + waiting.permits(), null, false, false);
            this.waiting = waiting;
        }

        LeaseRequest request(Duration patience) {
            return new LeaseRequest(waiting.permits(), patience, null);
        }
    }

    /**
     * A peer whose restored locks are pending believes that it holds them, and requests another one. The call waits for the
     * restored locks first: an error would end a client that has made no mistake.
     */
    private static final class StillRestoring extends PendingElsewhere {
        private static final long serialVersionUID = 1L;

        StillRestoring(LeaseStatus.Waiting waiting) {
            super(waiting);
        }
    }

    /** Waits together with the calls that wait already, and requests nothing itself. */
    private Mono<Boolean> waitFor(PeerId peer, LeaseRequest request) {
        return leases.acquire(peer.lease(), request, status -> {
                    LeaseStatus.Waiting waiting = status.waiting();
                    if (waiting == null || !waiting.permits().equals(request.permits())) {
                        throw new PendingNoMore();
                    }
                })
                .onErrorReturn(PendingNoMore.class, true)
                .flatMap(held -> held ? paid(peer, request.permits().keySet()) : Mono.just(false));
    }

    private Mono<Boolean> paid(PeerId peer, Set<String> locks) {
        return require(peer).flatMap(status -> paid(status, locks));
    }

    private Mono<Boolean> paid(LeaseStatus peer, Set<String> locks) {
        return Flux.fromIterable(locks)
                .concatMap(semaphore -> peers.charge(peer, semaphore))
                .then(Mono.just(true));
    }

    private static final class PendingNoMore extends RuntimeException {
        private static final long serialVersionUID = 1L;

        PendingNoMore() {
            super("waits no more", null, false, false);
        }
    }

    /** Checks once more before the answer. A call whose lock was released while it waited waits until its time is over. */
    private Mono<Boolean> notYet(PeerId peer, String semaphore, long until) {
        Duration left = left(until);
        Mono<?> before = left.isZero() ? settled(semaphore) : Mono.delay(left, time);
        return before.then(require(peer)
                .flatMap(status -> status.waiting() == null && status.held(semaphore) != null
                        ? paid(status, Set.of(semaphore))
                        : Mono.just(false)));
    }

    private Duration left(long until) {
        return Duration.ofNanos(Math.max(0, until - time.now(TimeUnit.NANOSECONDS)));
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
            return ThrottleError.unknownPeer();
        }
        if (error instanceof IllegalStateException) {
            return ThrottleError.alreadyPending(); // Another call has requested another lock meanwhile.
        }
        if (error instanceof PermitRefusedException refused) {
            return switch (refused.reason()) {
                case TOO_LARGE -> ThrottleError.neverForThisTenant(count);
                case DRAINING -> ThrottleError.shuttingDown().toldAlready();
                default -> ThrottleError.tooManyPending();
            };
        }
        return error;
    }
}
