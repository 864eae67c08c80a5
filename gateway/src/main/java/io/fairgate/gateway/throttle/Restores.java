package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Peers that come back after a restart of this server, and say what they hold.
 *
 * <p>For a while after the start they are believed, though a semaphore may then be over its count: what it protects is in
 * use already. Later nobody can have forgotten them but their own expiry, and they get their locks back only where these
 * are free: otherwise anybody could hold any count by saying so.
 */
final class Restores {

    private final Peers peers;
    private final Leases leases;
    private final Scheduler time;
    private final long windowEnds;
    private final AtomicLong overLimit = new AtomicLong();

    /** The window begins now. */
    Restores(Peers peers, Leases leases, ThrottleSettings settings, Scheduler time) {
        this.peers = peers;
        this.leases = leases;
        this.time = time;
        this.windowEnds = now() + settings.restoreWindow().toNanos();
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** How many have left a semaphore with more acquired than its count. */
    long overLimit() {
        return overLimit.get();
    }

    /**
     * Completes when the peer holds these locks; fails with {@link ThrottleError}, and has changed nothing then.
     *
     * @param charge pays for what is not believed, and so held anew
     */
    Mono<Void> restore(PeerId peer, Duration expiresIn, Map<String, Integer> locks, Mono<Tenants.Charge> charge) {
        return Mono.defer(() -> {
            if (leases.status(peer.lease()) != null) {
                return unchanged(peer, locks);
            }
            peers.requireRoom(peer.owner());
            if (locks.isEmpty()) {
                return peers.open(peer, expiresIn) ? Mono.empty() : unchanged(peer, locks);
            }
            return now() < windowEnds
                    ? believed(peer, expiresIn, locks)
                    : charge.flatMap(checked -> ifFree(peer, expiresIn, locks, checked));
        });
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

    /** One that is there may say again what it holds, and nothing else; it lives no longer by that. */
    private Mono<Void> unchanged(PeerId peer, Map<String, Integer> locks) {
        return Mono.fromRunnable(() -> {
            LeaseStatus status = leases.status(peer.lease());
            if (status == null || status.waiting() != null || !isHeld(status, locks)) {
                throw ThrottleError.changeThroughRestore();
            }
        });
    }

    private static boolean isHeld(LeaseStatus status, Map<String, Integer> locks) {
        Map<String, Integer> held = new HashMap<>();
        status.held().forEach(each -> held.put(each.pool(), each.permits()));
        return held.equals(locks);
    }

    private Mono<Void> believed(PeerId peer, Duration expiresIn, Map<String, Integer> locks) {
        return peers.restore(peer, expiresIn, locks)
                .onErrorMap(e -> Peers.translated(e, Collections.max(locks.values())))
                .flatMap(isNew -> isNew ? countOverLimit(locks) : unchanged(peer, locks));
    }

    private Mono<Void> countOverLimit(Map<String, Integer> locks) {
        return Flux.fromIterable(locks.keySet())
                .map(peers::requireSemaphore)
                .concatMap(semaphore -> semaphore.pool().inFlight().map(inFlight -> inFlight > semaphore.max()))
                .any(isOver -> isOver)
                .doOnNext(isOver -> overLimit.addAndGet(isOver ? 1 : 0))
                .then();
    }

    /** All of them at once, or none. */
    private Mono<Void> ifFree(PeerId peer, Duration expiresIn, Map<String, Integer> locks, Tenants.Charge charge) {
        return Mono.defer(() -> {
            boolean fits = locks.entrySet().stream()
                    .allMatch(lock -> lock.getValue()
                            <= peers.requireSemaphore(lock.getKey()).max());
            if (!fits) {
                throw ThrottleError.changeThroughRestore();
            }
            if (!peers.open(peer, expiresIn)) {
                return unchanged(peer, locks);
            }
            return leases.take(peer.lease(), new LeaseRequest(locks, Duration.ZERO, null), status -> {})
                    .flatMap(held -> held ? Mono.just(true) : heldAfterAll(peer, locks))
                    .onErrorMap(Restores::translated)
                    .flatMap(held -> held ? charge.made() : Mono.error(ThrottleError.changeThroughRestore()))
                    .doOnError(e -> leases.release(peer.lease()))
                    .doOnCancel(() -> leases.release(peer.lease()));
        });
    }

    private Mono<Boolean> heldAfterAll(PeerId peer, Map<String, Integer> locks) {
        return Flux.fromIterable(locks.keySet())
                .concatMap(peers::settled)
                .then(Mono.fromCallable(() -> isHeld(peers.require(peer), locks)));
    }

    /** What a pool refuses is not to be had; only one that is being closed says nothing of that. */
    private static Throwable translated(Throwable error) {
        return error instanceof PermitRefusedException refused && refused.reason() != RefusalReason.DRAINING
                ? ThrottleError.changeThroughRestore().toldAlready()
                : Peers.translated(error, 0);
    }
}
