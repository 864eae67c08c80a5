package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import java.time.Duration;
import java.util.List;
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
 * What peers do. A peer is a lease whose id is its number; what it has acquired are the grants of that lease, and what is
 * pending is what it waits for. All else (the queue, expiry at the very moment, who is next) is that of leases and pools.
 *
 * <p>A peer is its owner's: to everybody else it is an unknown one.
 *
 * <p>Over 250 lines, because it is all that a peer can do.
 *
 * <p>All methods, and the Monos when they are subscribed to, fail with a {@link ThrottleError} for what is wrong with the
 * request. From any thread; none blocks.
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

    /** A lock that is asked for. */
    record Lock(String semaphore, long count) {}

    /**
     * For how long.
     *
     * @param expiresIn of the peer, from now on; null to leave that as it is
     * @param blockFor how long to wait for the lock
     */
    record Patience(@Nullable Duration expiresIn, Duration blockFor) {}

    // ---- peers ----

    /** Makes a peer that holds nothing, and tells its number, which is no secret: nobody else has a use for it. */
    long create(PeerOwner owner, Duration expiresIn) {
        requireRoom(owner);
        while (true) {
            PeerId peer = new PeerId(owner, ThreadLocalRandom.current().nextLong());
            if (open(peer, expiresIn)) {
                return peer.number();
            }
        }
    }

    /** Opens the lease of a peer; false when there is one with this number. */
    boolean open(PeerId peer, Duration expiresIn) {
        return leases.open(peer.lease(), peer.owner().tenant(), peer.owner().holder(), term(expiresIn));
    }

    /** Opens one that holds locks already; false when there is one with this number. */
    Mono<Boolean> restore(PeerId peer, Duration expiresIn, Map<String, Integer> locks) {
        PeerOwner owner = peer.owner();
        return leases.restore(peer.lease(), owner.tenant(), owner.holder(), term(expiresIn), locks);
    }

    void requireRoom(PeerOwner owner) {
        if (leases.size() >= settings.mostPeers() || leases.size(owner.tenant()) >= settings.mostPeersOfOne()) {
            throw ThrottleError.tooManyPeers();
        }
    }

    private LeaseTerm term(Duration expiresIn) {
        return new LeaseTerm(settings.term(expiresIn), settings.longestHold());
    }

    /** In no order. */
    List<Long> all(PeerOwner owner) {
        return leases.ids(owner.tenant()).stream()
                .filter(id -> id.high() == owner.family())
                .map(LeaseId::low)
                .toList();
    }

    void heartbeat(PeerId peer, Duration expiresIn) {
        if (leases.extend(peer.lease(), settings.term(expiresIn)) == null) {
            throw ThrottleError.unknownPeer();
        }
    }

    /** Frees all that a peer holds and waits for; false when there is no such peer. */
    boolean release(PeerId peer) {
        return leases.release(peer.lease());
    }

    /** Whether nothing is pending. */
    Mono<Boolean> isAcquired(PeerId peer) {
        return Mono.defer(() -> {
            LeaseStatus.Waiting waiting = require(peer).waiting();
            return waiting == null
                    ? Mono.just(true)
                    : settled(waiting.pool())
                            .then(Mono.fromCallable(() -> require(peer).waiting() == null));
        });
    }

    LeaseStatus require(PeerId peer) {
        LeaseStatus status = leases.status(peer.lease());
        if (status == null) {
            throw ThrottleError.unknownPeer();
        }
        return status;
    }

    // ---- locks ----

    /** Gives a lock back, or its place in the queue; a lock that the peer has not is given back already. */
    void releaseLock(PeerId peer, String semaphore) {
        requireSemaphore(semaphore);
        try {
            leases.giveBack(peer.lease(), semaphore);
        } catch (LeaseGoneException e) {
            throw ThrottleError.unknownPeer();
        }
    }

    /**
     * Asks for a lock, or goes on to wait for it.
     *
     * @param charge asked when the lock is a new one
     * @return whether nothing is pending any more. When that is false the lock keeps its place in the queue, as it does when
     *     this is cancelled
     */
    Mono<Boolean> acquire(PeerId peer, Lock lock, Patience patience, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            Semaphore semaphore = requireSemaphore(lock.semaphore);
            if (lock.count > semaphore.largestLock()) {
                throw ThrottleError.never(lock.count, semaphore.largestLock());
            }
            if (patience.expiresIn != null) {
                heartbeat(peer, patience.expiresIn);
            }
            if (lock.count < 1) {
                throw ThrottleError.invalidLockCount(lock.count);
            }
            Duration block = settings.block(patience.blockFor);
            long until = time.now(TimeUnit.NANOSECONDS) + block.toNanos();
            LeaseRequest request = LeaseRequest.of(lock.semaphore, (int) lock.count, block, null);
            return ask(peer, semaphore, request, charge)
                    .onErrorResume(PendingElsewhere.class, other -> waitFor(peer, other.request(block)))
                    .flatMap(held -> held ? Mono.just(true) : notYet(peer, lock.semaphore, until))
                    .onErrorMap(e -> translated(e, lock.count));
        });
    }

    /** A lock that is held or pending already is not charged again. */
    private Mono<Boolean> ask(PeerId peer, Semaphore semaphore, LeaseRequest request, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> isNew(require(peer), semaphore, request)
                        ? charge.flatMap(checked -> take(peer, semaphore, request, checked))
                        : take(peer, semaphore, request, null))
                .onErrorResume(NewMeanwhile.class, again -> ask(peer, semaphore, request, charge));
    }

    private Mono<Boolean> take(
            PeerId peer, Semaphore semaphore, LeaseRequest request, Tenants.@Nullable Charge charge) {
        AtomicReference<Mono<Void>> paid = new AtomicReference<>(Mono.empty());
        return leases.take(peer.lease(), request, status -> {
                    if (!isNew(status, semaphore, request)) {
                        paid.set(peers.charge(status, semaphore.name()));
                    } else if (charge == null) {
                        throw new NewMeanwhile();
                    } else {
                        paid.set(peers.payFor(status, semaphore.name(), charge));
                    }
                })
                .flatMap(held -> held ? Objects.requireNonNull(paid.get()).thenReturn(true) : Mono.just(false));
    }

    /** The lock was there, and was given back before it could be asked for again. */
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

    /** Whether it would be another lock of the peer, which it may ask for; false when it has asked before. */
    private boolean isNew(LeaseStatus status, Semaphore semaphore, LeaseRequest request) {
        int count = request.permits().getOrDefault(semaphore.name(), 0);
        LeaseStatus.Held held = status.held(semaphore.name());
        LeaseStatus.Waiting waiting = status.waiting();
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

    /** Who asks again for a lock that it holds is told of the one that is pending, and waits for that one. */
    private static final class PendingElsewhere extends RuntimeException {
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

    /** Waits with those who wait already, and asks for nothing itself. */
    private Mono<Boolean> waitFor(PeerId peer, LeaseRequest request) {
        return leases.take(peer.lease(), request, status -> {
                    LeaseStatus.Waiting waiting = status.waiting();
                    if (waiting == null || !waiting.permits().equals(request.permits())) {
                        throw new PendingNoMore();
                    }
                })
                .onErrorReturn(PendingNoMore.class, true)
                .flatMap(held -> held ? paid(require(peer), request.permits().keySet()) : Mono.just(false));
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

    /** The last look before the answer. Whose lock was given back while it waited for it waits until its time is up. */
    private Mono<Boolean> notYet(PeerId peer, String semaphore, long until) {
        Duration left = Duration.ofNanos(until - time.now(TimeUnit.NANOSECONDS));
        Mono<?> before = left.isNegative() || left.isZero() ? settled(semaphore) : Mono.delay(left, time);
        return before.then(Mono.defer(() -> {
            LeaseStatus status = require(peer);
            return status.waiting() == null && status.held(semaphore) != null
                    ? paid(status, Set.of(semaphore))
                    : Mono.just(false);
        }));
    }

    /**
     * Completes when the pool has seen to all that it had been asked before. Another thread may be at work in it, which
     * grants what is free a moment later; the answer must not be that it is pending.
     */
    Mono<Void> settled(String semaphore) {
        Semaphore found = semaphores.find(semaphore);
        return found == null ? Mono.empty() : found.pool().inFlight().then();
    }

    /** As the protocol says it. */
    static Throwable translated(Throwable error, long count) {
        if (error instanceof LeaseGoneException) {
            return ThrottleError.unknownPeer();
        }
        if (error instanceof IllegalStateException) {
            return ThrottleError.alreadyPending(); // It is being restored, and waits for what it says that it holds.
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
