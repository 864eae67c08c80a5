package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeasedPools;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Wait;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What becomes of a lease: its record after each call, without the book. Times are milliseconds of the book's clock. */
final class LeaseRules {

    private final LeasedPools pools;

    LeaseRules(LeasedPools pools) {
        this.pools = pools;
    }

    /** @throws IllegalArgumentException when there is no such pool */
    void requirePool(String name) {
        if (pools.find(name) == null) {
            throw new IllegalArgumentException(
                    "unknown pool \"%s\" (expected: the name of an existing pool)".formatted(name));
        }
    }

    /** The permits that the lease does not hold yet. */
    static Map<String, Integer> lacking(BookedLease lease, LeaseRequest request) {
        Map<String, Integer> lacking = new TreeMap<>(request.permits());
        lease.grants().forEach(grant -> lacking.remove(grant.pool()));
        return lacking;
    }

    /** It waits for permits from now on. */
    BookedLease requested(
            BookedLease lease, LeaseRequest request, Map<String, Integer> lacking, String host, long now) {
        Duration ttl = request.ttl();
        Wait wait = new Wait(
                lacking, lacking.keySet().iterator().next(), now, ttl == null ? null : (Long) ttl.toMillis(), 0);
        return asked(lease.waitingFor(wait, host), request, now);
    }

    /** A call waits with it. */
    BookedLease asked(BookedLease lease, LeaseRequest request, long now) {
        Duration ttl = request.ttl();
        if (ttl == null) {
            return lease;
        }
        long until = now + request.answerWithin().toMillis() + boundedTtl(lease, ttl.toMillis());
        long expires = Math.max(lease.expires(), bounded(lease, until));
        return lease.expiring(expires);
    }

    /** It holds the permits that it waited for. */
    BookedLease granted(BookedLease lease, Wait waited, List<Grant> grants, long now) {
        Long ttl = waited.ttl();
        BookedLease first = ttl != null && lease.grants().isEmpty() ? lease.ending(now + lease.maxHold()) : lease;
        BookedLease held = first.withoutWait(null).holding(grants);
        long lasts = boundedTtl(held, ttl == null ? lease.expires() - now : ttl);
        return until(held, Math.max(now + lasts, lease.extendedUntil()));
    }

    /** It holds again what it held before a restart. */
    BookedLease restored(BookedLease lease, List<Grant> grants) {
        return until(lease.holding(grants), lease.expires());
    }

    BookedLease extended(BookedLease lease, Duration ttl, long now) {
        return until(lease, now + boundedTtl(lease, ttl.toMillis())).extended();
    }

    /** It waits no longer for permits of this pool, and begins to wait anew for those of the others. */
    BookedLease left(BookedLease lease, Wait waited, String pool, long now) {
        Map<String, Integer> others = new TreeMap<>(waited.permits());
        others.remove(pool);
        return others.isEmpty()
                ? lease.withoutWait(null)
                : lease.waitingFor(
                        new Wait(others, others.keySet().iterator().next(), now, waited.ttl(), 0), lease.host());
    }

    private BookedLease until(BookedLease lease, long when) {
        return lease.expiring(bounded(lease, when));
    }

    /** The time to expiry, cut to the bounds of all pools of which the lease holds or wants permits. */
    private long boundedTtl(BookedLease lease, long ttl) {
        @Nullable Wait waiting = lease.waiting();
        Stream<String> wanted = waiting == null ? Stream.of() : waiting.permits().keySet().stream();
        return Stream.concat(lease.grants().stream().map(Grant::pool), wanted)
                .mapToLong(pool -> pools.bounds(pool).maxTtl().toMillis())
                .reduce(ttl, Math::min);
    }

    /** The time, but not beyond the maximum hold of the lease and of its pools. */
    private long bounded(BookedLease lease, long when) {
        return lease.grants().stream()
                .mapToLong(grant ->
                        grant.at() + pools.bounds(grant.pool()).maxHold().toMillis())
                .reduce(Math.min(when, lease.ends()), Math::min);
    }
}
