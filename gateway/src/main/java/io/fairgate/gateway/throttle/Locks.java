package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Requests of locks. Fails with a {@link ThrottleError} if the request is wrong. Thread-safe; no method blocks. */
record Locks(Peers peers, RestoringPeers restoring, Scheduler time) {

    record Lock(String semaphore, long count) {}

    /**
     * The times of a request for a lock.
     *
     * @param expiresIn when the peer expires, from now on; null to leave that unchanged
     * @param blockFor how long to wait for the lock
     */
    record Patience(@Nullable Duration expiresIn, Duration blockFor) {}

    /**
     * Requests a lock, or continues to wait for it.
     *
     * @param charge subscribed to when the lock is a new one
     * @return whether nothing is pending any more. When it is false the lock keeps its place in the queue; it also keeps it
     *     when this is cancelled
     */
    Mono<Boolean> acquire(PeerId peer, Lock lock, Patience patience, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            peers.requireSemaphore(lock.semaphore).requireCount(lock.count);
            Duration expiresIn = patience.expiresIn;
            Mono<Boolean> acquired = acquire(peer, lock, patience.blockFor, charge);
            if (expiresIn == null) {
                return acquired;
            }
            Mono<Void> extended = peers.heartbeat(peer, expiresIn);
            // A peer that expires at once still gets its lock, as from throttle; it would be unknown by then.
            return expiresIn.isZero() ? acquired.flatMap(extended::thenReturn) : extended.then(acquired);
        });
    }

    private Mono<Boolean> acquire(PeerId peer, Lock lock, Duration blockFor, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            if (lock.count < 1) {
                throw ThrottleError.invalidLockCount(lock.count);
            }
            Duration block = peers.settings().block(blockFor);
            long until = time.now(TimeUnit.NANOSECONDS) + block.toNanos();
            LeaseRequest request = LeaseRequest.of(lock.semaphore, (int) lock.count, block, null);
            return ask(peer, peers.requireSemaphore(lock.semaphore), request, charge)
                    .onErrorResume(
                            PendingElsewhere.class,
                            other -> waitFor(peer, new LeaseRequest(other.waiting.permits(), block, null))
                                    .flatMap(held -> held && other.isRestoring
                                            ? acquire(peer, lock, new Patience(null, left(until)), charge)
                                            : Mono.just(held)))
                    .flatMap(held -> held ? Mono.just(true) : notYet(peer, lock.semaphore, until))
                    .onErrorMap(e -> Peers.translated(e, lock.count));
        });
    }

    /** A new lock is requested if it could be charged now. One that is already held or pending is not charged again. */
    private Mono<Boolean> ask(PeerId peer, Semaphore semaphore, LeaseRequest request, Mono<Tenants.Charge> charge) {
        return peers.require(peer)
                .flatMap(status -> isNew(status, semaphore, request)
                        ? charge.flatMap(checked -> take(peer, semaphore, request, checked.made()))
                        // It may be released meanwhile, and be new then.
                        : take(peer, semaphore, request, charge.flatMap(Tenants.Charge::made)));
    }

    private Mono<Boolean> take(PeerId peer, Semaphore semaphore, LeaseRequest request, Mono<Void> payment) {
        return peers.leases().acquire(peer.lease(), request, status -> {
            if (isNew(status, semaphore, request)) {
                restoring.remove(status);
            }
            return payment; // also for a pending lock: the payment of the first call may be lost with another gateway
        });
    }

    /** Whether the peer requests this lock for the first time, and may do so; false for a repeated request. */
    private boolean isNew(LeaseStatus status, Semaphore semaphore, LeaseRequest request) {
        int count = request.permits().getOrDefault(semaphore.name(), 0);
        LeaseStatus.Held held = status.held(semaphore.name());
        LeaseStatus.Waiting waiting = status.waiting();
        if (waiting != null && restoring.contains(status) && !waiting.permits().equals(request.permits())) {
            throw new PendingElsewhere(waiting, true);
        }
        int pending = waiting == null ? 0 : waiting.permits().getOrDefault(semaphore.name(), 0);
        int demanded = held == null ? pending : held.permits();
        if (demanded == 0) {
            requireOrder(status, semaphore);
        } else if (count < demanded) {
            throw ThrottleError.SHRINKING;
        } else if (count > demanded) {
            throw ThrottleError.deadlock(semaphore.level(), semaphore.level());
        } else if (held != null && waiting != null) {
            throw new PendingElsewhere(waiting, false);
        }
        return demanded == 0;
    }

    private void requireOrder(LeaseStatus status, Semaphore semaphore) {
        OptionalInt current = status.held().stream()
                .map(held -> peers.semaphores().find(held.pool()))
                .filter(Objects::nonNull)
                .mapToInt(Semaphore::level)
                .min();
        if (current.isPresent() && current.getAsInt() <= semaphore.level()) {
            throw ThrottleError.deadlock(current.getAsInt(), semaphore.level());
        }
        if (status.waiting() != null) {
            throw ThrottleError.ALREADY_PENDING;
        }
    }

    /** Waits together with the calls that wait already, and requests nothing itself. */
    private Mono<Boolean> waitFor(PeerId peer, LeaseRequest request) {
        return peers.leases()
                .acquire(peer.lease(), request, status -> {
                    LeaseStatus.Waiting waiting = status.waiting();
                    if (waiting == null || !waiting.permits().equals(request.permits())) {
                        throw new Changed();
                    }
                    return null;
                })
                .onErrorReturn(Changed.class, true);
    }

    /** Checks once more before the answer. A call whose lock was released while it waited waits until its time is over. */
    private Mono<Boolean> notYet(PeerId peer, String semaphore, long until) {
        Duration left = left(until);
        Mono<?> before = left.isZero() ? peers.settled(semaphore) : Mono.delay(left, time);
        return before.then(
                peers.require(peer).map(status -> status.waiting() == null && status.held(semaphore) != null));
    }

    private Duration left(long until) {
        return Duration.ofNanos(Math.max(0, until - time.now(TimeUnit.NANOSECONDS)));
    }

    /**
     * The peer requests a lock again that it holds while another one is pending, and the call waits for that one. Or its restored
     * locks are pending: it believes that it holds them, and requests another one. Then the call waits for the restored locks
     * first, because an error would end a client that has made no mistake.
     */
    private static final class PendingElsewhere extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient LeaseStatus.Waiting waiting;
        private final boolean isRestoring;

        PendingElsewhere(LeaseStatus.Waiting waiting, boolean isRestoring) {
            super("waits for " + waiting.permits(), null, false, false);
            this.waiting = waiting;
            this.isRestoring = isRestoring;
        }
    }

    /** The locks of the peer have changed since they were looked at. */
    private static final class Changed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Changed() {
            super("changed meanwhile", null, false, false);
        }
    }
}
