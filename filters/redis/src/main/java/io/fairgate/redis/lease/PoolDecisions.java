package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Refusal;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.redis.lease.LeaseBook.Place;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Brings what the pools of this gateway decide about leases into the ledgers of the pools, and then into the book. If a ledger cannot be
 * reached, the permits go back, and the lease waits on.
 */
final class PoolDecisions implements LeaseListener {

    /** How long the ledgers may take to record what was granted. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final LeaseBook book;
    private final LeaseRules rules;
    private final LedgerClaims ledgers;
    private final LocalLeases local;
    private final LeaseEvents events;
    private final Scheduler time;

    /** The holds that are being restored. Their events go to the listeners as they are. */
    private final Set<LeaseId> restoring = ConcurrentHashMap.newKeySet();

    PoolDecisions(
            LeaseBook book,
            LeaseRules rules,
            LedgerClaims ledgers,
            LocalLeases local,
            LeaseEvents events,
            Scheduler time) {
        this.book = book;
        this.rules = rules;
        this.ledgers = ledgers;
        this.local = local;
        this.events = events;
        this.time = time;
        local.listen(this);
    }

    /** Passes on what becomes of a hold until the call is over: no pool decides about it. */
    <T> Mono<T> whileRestoring(Hold hold, Mono<T> call) {
        return Mono.defer(() -> {
            restoring.add(hold.inPools);
            return call.doFinally(end -> restoring.remove(hold.inPools));
        });
    }

    private static LeaseStatus as(Hold hold, LeaseStatus inPools) {
        return new LeaseStatus(
                hold.lease.id,
                hold.lease.known().serial(),
                inPools.holder(),
                inPools.held(),
                inPools.waiting(),
                inPools.leftNanos());
    }

    @Override
    public void granted(LeaseStatus inPools, LeaseStatus.Held any) {
        Hold hold = local.hold(inPools.id());
        if (hold != null && inPools.waiting() == null) {
            List<Claim> granted = inPools.held().stream()
                    .map(held -> ledgers.newClaim(held.pool(), held.permits()))
                    .toList();
            if (hold.claim(granted)) {
                hold.bring(recorded(hold, granted));
            }
        }
    }

    @Override
    public void refused(LeaseStatus inPools, LeaseStatus.Waiting asked, RefusalReason reason) {
        Hold hold = local.hold(inPools.id());
        if (hold != null && restoring.contains(inPools.id())) {
            LeaseStatus status = as(hold, inPools);
            events.publish(listener -> listener.refused(status, asked, reason));
        } else if (hold != null) {
            BookedLease lease = hold.lease.known();
            LeaseStatus before = lease.status(book.clock());
            hold.bring(withoutWait(
                    hold,
                    lease,
                    asked.pool(),
                    reason.name(),
                    () -> events.publish(listener -> listener.refused(before, asked, reason))));
        }
    }

    @Override
    public void ended(LeaseStatus inPools, End how) {
        Hold hold = local.hold(inPools.id());
        if (hold != null && restoring.contains(inPools.id())) {
            LeaseStatus status = as(hold, inPools);
            events.publish(listener -> listener.ended(status, how));
        }
    }

    // ---- into the ledgers ----

    private Mono<Void> recorded(Hold hold, List<Claim> granted) {
        return Mono.defer(() -> {
                    long lasts = lasts(hold.lease.known());
                    return Flux.fromIterable(granted)
                            .concatMap(claim -> ledgers.record(hold.lease.id, claim, lasts, false))
                            .then()
                            .timeout(PATIENCE, time)
                            .then(paid(hold))
                            .then(booked(hold, granted, lasts));
                })
                .onErrorResume(failed -> failed instanceof Unpaid unpaid
                        ? unpaid(hold, granted, unpaid.why)
                        : giveBack(hold, granted).then(Mono.error(unlessGone(failed))));
    }

    /** The payment was refused. */
    private static final class Unpaid extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Throwable why;

        Unpaid(Throwable why) {
            super("unpaid", null, false, false);
            this.why = why;
        }
    }

    private Mono<Void> paid(Hold hold) {
        return hold.pay(Mono.defer(() -> local.payment(hold.lease.id)).onErrorMap(Unpaid::new));
    }

    /** First the lease waits no longer, and then its permits go back: it would get them again, without a payment. */
    private Mono<Void> unpaid(Hold hold, List<Claim> granted, Throwable why) {
        String pool = hold.permits.keySet().iterator().next();
        Mono<Void> again = Mono.error(why);
        local.refuse(hold.lease.id, again);
        return Mono.defer(() -> withoutWait(hold, hold.lease.known(), pool, Refusal.UNPAID, () -> {}))
                .doOnSuccess(done -> local.paid(hold.lease.id, again))
                .onErrorComplete()
                .then(giveBack(hold, granted))
                .then(Mono.error(why));
    }

    /** What the grant will make of the lease, in milliseconds; if its record changes meanwhile, the claims are extended. */
    private long lasts(BookedLease lease) {
        Wait wait = lease.waiting();
        long now = book.clock();
        return (wait == null
                        ? lease.expires()
                        : rules.granted(lease, wait, List.of(), now).expires())
                - now;
    }

    /** The permits go back, and the lease may wait for them again. */
    private Mono<Void> giveBack(Hold hold, List<Claim> granted) {
        return Flux.fromIterable(granted)
                .flatMap(claim -> local.end(hold, claim))
                .then();
    }

    private static Throwable unlessGone(Throwable failed) {
        return failed instanceof LeaseGoneException ? failed : LedgerClaims.unavailable(failed);
    }

    // ---- into the book ----

    /**
     * Brings what was granted into the book. Without an answer the book may have it, so the permits do not go back before it has answered.
     *
     * @param lasts how long the ledgers were told to keep it
     */
    private Mono<Void> booked(Hold hold, List<Claim> granted, long lasts) {
        return Mono.defer(() -> booked(hold, hold.lease.known(), granted, lasts))
                .onErrorResume(
                        LeasesUnavailableException.class,
                        unknown -> Mono.delay(HostBeats.BEATS, time)
                                .then(Mono.defer(() -> book.read(hold.lease.id)))
                                .flatMap(found -> booked(hold, found.lease(), granted, lasts))
                                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, HostBeats.BEATS)
                                        .scheduler(time)
                                        .filter(failed -> failed instanceof LeasesUnavailableException
                                                && local.hosts(hold.lease))));
    }

    private Mono<Void> booked(Hold hold, @Nullable BookedLease lease, List<Claim> granted, long lasts) {
        if (lease != null && lease.grants().stream().anyMatch(grant -> isOf(grant, granted))) {
            hold.lease.knows(lease);
            local.expires(lease, book.clock());
            publish(lease, book.clock(), granted);
            return Mono.empty();
        }
        Wait wait = lease == null ? null : lease.waiting();
        if (lease == null
                || wait == null
                || !lease.host().equals(book.gateway())
                || !wait.permits().equals(hold.permits)) {
            return Mono.error(new LeaseGoneException(hold.lease.id)); // it was released, or has another host
        }
        long now = book.clock();
        BookedLease held = rules.granted(lease, wait, grants(granted, now - wait.since(), now), now);
        boolean isLonger = held.expires() - now > lasts + LedgerClaims.LONGER.toMillis() / 2;
        return ledgers.extend(isLonger ? held.grants() : lease.grants(), held.expires() - now)
                .flatMap(isHeld -> isHeld ? book.grant(held, 0) : Mono.error(new LeaseGoneException(hold.lease.id)))
                .flatMap(change -> {
                    BookedLease found = change.found().lease();
                    if (!change.isDone() || found == null) {
                        return booked(hold, found, granted, lasts);
                    }
                    hold.lease.knows(found);
                    local.expires(found, change.found().clock());
                    publish(found, change.found().clock(), granted);
                    return Mono.empty();
                });
    }

    private void publish(BookedLease lease, long clock, List<Claim> granted) {
        LeaseStatus status = lease.status(clock);
        for (Claim claim : granted) {
            LeaseStatus.Held held = status.held(claim.pool());
            if (held != null) {
                events.publish(listener -> listener.granted(status, held));
            }
        }
    }

    private static boolean isOf(Grant grant, List<Claim> granted) {
        return granted.stream().anyMatch(claim -> claim.name().equals(grant.claim()));
    }

    private static List<Grant> grants(List<Claim> granted, long waited, long at) {
        return granted.stream()
                .map(claim -> new Grant(claim.pool(), claim.permits(), 0, waited, at, claim.name(), true))
                .toList();
    }

    /** The lease waits no longer, and its holder may ask again. */
    private Mono<Void> withoutWait(Hold hold, BookedLease lease, String pool, String reason, Runnable whenDone) {
        Wait wait = lease.waiting();
        if (wait == null
                || !lease.host().equals(book.gateway())
                || !wait.permits().equals(hold.permits)) {
            return Mono.empty();
        }
        return book.change(lease.withoutWait(new Refusal(pool, reason, wait.since())), Place.NEW)
                .flatMap(change -> {
                    BookedLease found = change.found().lease();
                    if (found == null) {
                        return Mono.empty();
                    }
                    if (!change.isDone()) {
                        return withoutWait(hold, found, pool, reason, whenDone);
                    }
                    hold.lease.knows(found);
                    whenDone.run();
                    return Mono.empty();
                });
    }
}
