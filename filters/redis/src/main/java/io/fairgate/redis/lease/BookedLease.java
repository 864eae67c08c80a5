package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The record of a lease in the book. Immutable. All times are milliseconds of the book's clock.
 *
 * @param revision grows with each change of the record
 * @param serial grows with each lease that is opened
 * @param remembered how long its id is remembered after its end
 * @param host the gateway in whose pools the lease waits, and which tells the ledgers of its permits when they have lost them
 * @param maxHold the longest hold
 * @param ends the end of the longest hold
 * @param extendedUntil the expiry that the last extension promised
 * @param refusal why its last request was refused; null when it was not
 */
record BookedLease(
        LeaseId id,
        long revision,
        long serial,
        LeaseHolder holder,
        long remembered,
        String host,
        long expires,
        long maxHold,
        long ends,
        long extendedUntil,
        List<Grant> grants,
        @Nullable Wait waiting,
        @Nullable Refusal refusal) {

    /**
     * Permits of one pool.
     *
     * @param token the fencing token
     * @param waited the time from the request to the grant
     * @param at when they were granted
     * @param claim the name of the lease in the ledger of the pool
     * @param isRecorded false when the permits were restored, and the ledger does not have them yet
     */
    record Grant(String pool, int permits, long token, long waited, long at, String claim, boolean isRecorded) {

        Grant recorded() {
            return new Grant(pool, permits, token, waited, at, claim, true);
        }
    }

    /**
     * The permits that it waits for.
     *
     * @param pool the pool in whose queue it waits
     * @param since the time of the request
     * @param ttl the time to expiry from the grant on; null when the grant does not change the expiry
     * @param place its place in the queue, from 1
     */
    record Wait(
            Map<String, Integer> permits,
            String pool,
            long since,
            @Nullable Long ttl,
            int place) {
        Wait {
            permits = Collections.unmodifiableMap(new TreeMap<>(permits));
        }

        Wait inQueueOf(String other, int placeThere) {
            return new Wait(permits, other, since, ttl, placeThere);
        }

        int permitsOfPool() {
            return permits.getOrDefault(pool, 0);
        }

        private LeaseStatus.Waiting status(long now) {
            return new LeaseStatus.Waiting(permits, pool, place, nanos(now - since));
        }
    }

    /** The refusal of the request since {@code since}. */
    record Refusal(String pool, String reason, long since) {
        /** The reason when the payment was refused, and no pool. */
        static final String UNPAID = "UNPAID";

        boolean isUnpaid() {
            return reason.equals(UNPAID);
        }
    }

    BookedLease {
        grants = List.copyOf(grants);
    }

    TenantId tenant() {
        return holder.tenant();
    }

    private static long nanos(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    boolean isHeldOf(String pool) {
        return grants.stream().anyMatch(grant -> grant.pool.equals(pool));
    }

    LeaseStatus status(long now) {
        return new LeaseStatus(
                id,
                serial,
                holder,
                grants.stream()
                        .map(grant -> new LeaseStatus.Held(
                                grant.pool, grant.permits, grant.token, nanos(grant.waited), nanos(now - grant.at)))
                        .toList(),
                waiting == null ? null : waiting.status(now),
                Math.max(0, nanos(expires - now)));
    }

    BookedLease expiring(long at) {
        return new BookedLease(
                id,
                revision,
                serial,
                holder,
                remembered,
                host,
                at,
                maxHold,
                ends,
                extendedUntil,
                grants,
                waiting,
                refusal);
    }

    BookedLease extended() {
        return new BookedLease(
                id,
                revision,
                serial,
                holder,
                remembered,
                host,
                expires,
                maxHold,
                ends,
                expires,
                grants,
                waiting,
                refusal);
    }

    /** @param as its host, and the queue in which it waits */
    BookedLease waitingFor(Wait as, String at) {
        return new BookedLease(
                id, revision, serial, holder, remembered, at, expires, maxHold, ends, extendedUntil, grants, as, null);
    }

    BookedLease withoutWait(@Nullable Refusal why) {
        return new BookedLease(
                id,
                revision,
                serial,
                holder,
                remembered,
                host,
                expires,
                maxHold,
                ends,
                extendedUntil,
                grants,
                null,
                why);
    }

    BookedLease ending(long at) {
        return new BookedLease(
                id,
                revision,
                serial,
                holder,
                remembered,
                host,
                expires,
                maxHold,
                at,
                extendedUntil,
                grants,
                waiting,
                refusal);
    }

    BookedLease holding(List<Grant> more) {
        return with(Stream.concat(grants.stream(), more.stream()).toList());
    }

    BookedLease without(String pool) {
        return with(grants.stream().filter(grant -> !grant.pool.equals(pool)).toList());
    }

    /** The ledger of the pool has this claim now. */
    BookedLease recorded(String claim) {
        List<Grant> changed = new ArrayList<>(grants);
        changed.replaceAll(grant -> grant.claim.equals(claim) ? grant.recorded() : grant);
        return with(changed);
    }

    private BookedLease with(List<Grant> all) {
        return new BookedLease(
                id,
                revision,
                serial,
                holder,
                remembered,
                host,
                expires,
                maxHold,
                ends,
                extendedUntil,
                all,
                waiting,
                refusal);
    }
}
