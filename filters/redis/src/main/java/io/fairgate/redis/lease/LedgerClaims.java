package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.permit.PermitPool;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.slice.LeasePermits;
import io.fairgate.redis.slice.RedisPermitPool;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The permits of leases in the ledgers of their pools. */
final class LedgerClaims {

    /** How much longer than the book a ledger keeps a lease: both clocks follow the one of Redis, and the ledger's may leap by half a second. */
    static final Duration LONGER = Duration.ofSeconds(2);

    /** How long a call waits until permits can be granted again. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final LeasedPools pools;
    private final String gateway;
    private final Scheduler time;
    private final AtomicLong names = new AtomicLong();

    /** @param gateway a name that no other gateway has and had */
    LedgerClaims(LeasedPools pools, String gateway, Scheduler time) {
        this.pools = pools;
        this.gateway = gateway;
        this.time = time;
    }

    /** Permits that a pool of this gateway has granted, under a name that no others have. */
    Claim newClaim(String pool, int permits) {
        return new Claim(pool, gateway + "." + names.incrementAndGet(), permits);
    }

    /** Null when the policy of this gateway has no such pool any more. */
    private @Nullable LeasePermits of(String pool) {
        PermitPool found = pools.find(pool);
        if (found == null) {
            return null;
        }
        if (found instanceof RedisPermitPool shared) {
            return shared.leases();
        }
        throw new IllegalStateException("pool %s is a %s (expected: a RedisPermitPool, as its leases are in Redis)"
                .formatted(pool, found.getClass().getSimpleName()));
    }

    private LeasePermits require(String pool) {
        LeasePermits permits = of(pool);
        if (permits == null) {
            throw new LeasesUnavailableException(
                    new IllegalStateException("pool %s is not in the policy of this gateway".formatted(pool)));
        }
        return permits;
    }

    /**
     * Has the ledger record a claim. Waits for as long as Redis does not answer.
     *
     * @param lasts how long the book is about to keep the lease, in milliseconds
     * @param isRestored whether the pool has counted the permits although none were free
     * @return errors with {@link LeaseGoneException} when the claim has ended meanwhile
     */
    Mono<Void> record(LeaseId lease, Claim claim, long lasts, boolean isRestored) {
        return Mono.defer(() -> require(claim.pool())
                .record(claim.name(), claim.permits(), ttl(lasts), isRestored)
                .flatMap(isRecorded -> isRecorded ? Mono.empty() : Mono.error(new LeaseGoneException(lease))));
    }

    private static Duration ttl(long lasts) {
        return Duration.ofMillis(Math.max(0, lasts)).plus(LONGER);
    }

    /**
     * Has the ledgers keep the permits of a lease for as long as the book is about to.
     *
     * @param lasts in milliseconds
     * @return false when a ledger has them no more. Errors with {@link LeasesUnavailableException} when a ledger does not answer, or this gateway does
     *     not have the pool
     */
    Mono<Boolean> extend(List<Grant> grants, long lasts) {
        return Flux.fromIterable(grants)
                .filter(Grant::isRecorded)
                .concatMap(grant -> require(grant.pool()).extend(grant.claim(), ttl(lasts)))
                .all(isHeld -> isHeld)
                .onErrorMap(LedgerClaims::unavailable);
    }

    static Throwable unavailable(Throwable failed) {
        return failed instanceof LeasesUnavailableException ? failed : new LeasesUnavailableException(failed);
    }

    /** This gateway tells the ledgers of these permits when they have lost them. */
    void keep(List<Grant> grants, long lasts) {
        for (Grant grant : grants) {
            LeasePermits permits = of(grant.pool());
            if (permits != null && grant.isRecorded()) {
                permits.keep(grant.claim(), grant.permits(), ttl(lasts));
            }
        }
    }

    /** This gateway no longer tells the ledgers of these permits. */
    void forget(List<Grant> grants) {
        for (Grant grant : grants) {
            LeasePermits permits = of(grant.pool());
            if (permits != null) {
                permits.forget(grant.claim());
            }
        }
    }

    /**
     * Ends the permits of one pool, in the ledger and, by {@code release}, in the pool of this gateway. Completes when they can be granted again, or
     * after a while.
     */
    Mono<Void> end(String pool, String claim, Runnable release) {
        return Mono.defer(() -> {
            LeasePermits permits = of(pool);
            if (permits == null) {
                release.run();
                return Mono.empty();
            }
            return detached(permits.end(claim, release));
        });
    }

    /** The pool of this gateway releases the permits, and the ledger keeps them. */
    Mono<Void> leave(String pool, String claim, Runnable release) {
        return Mono.defer(() -> {
            LeasePermits permits = of(pool);
            if (permits == null) {
                release.run();
                return Mono.empty();
            }
            return detached(permits.leave(claim, release));
        });
    }

    /** It goes on when the caller waits no longer. */
    private Mono<Void> detached(Mono<Void> call) {
        return Mono.fromFuture(call.toFuture(), true)
                .timeout(PATIENCE, Mono.empty(), time)
                .onErrorComplete();
    }
}
