package io.fairgate.redis.lease;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.LeaseBook.Found;
import io.fairgate.redis.lease.LeaseBook.Place;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Restores leases that Redis has lost, and that no gateway knows. The pools of this gateway count their permits at once, then the book has them, and
 * the ledgers get them when the slices have room. Until then the permits end with this gateway.
 */
final class RestoredLeases {

    private final LeaseBook book;
    private final LeaseRules rules;
    private final LedgerClaims ledgers;
    private final LocalLeases local;
    private final PoolDecisions decisions;
    private final LeaseEvents events;
    private final Scheduler time;

    RestoredLeases(
            LeaseBook book,
            LeaseRules rules,
            LedgerClaims ledgers,
            LocalLeases local,
            PoolDecisions decisions,
            LeaseEvents events,
            Scheduler time) {
        this.book = book;
        this.rules = rules;
        this.ledgers = ledgers;
        this.local = local;
        this.decisions = decisions;
        this.events = events;
        this.time = time;
    }

    /** Restores a lease that has just been opened for this, or ends it. Always emits true. */
    Mono<Boolean> restore(LeaseId id, HeldBefore before) {
        AtomicBoolean isDone = new AtomicBoolean();
        Mono<Boolean> restored = book.read(id).flatMap(found -> {
            BookedLease lease = found.lease();
            if (lease == null) {
                return Mono.just(true); // it was released meanwhile
            }
            Hold hold = local.hosted(lease).waitingFor(before.permits());
            return decisions
                    .whileRestoring(hold, local.restore(hold, lease, before))
                    .then(Mono.defer(() -> claimed(hold, found, before)));
        });
        return restored.doOnNext(done -> isDone.set(true))
                .doOnError(failed -> undo(id))
                .doOnCancel(() -> {
                    if (!isDone.get()) {
                        undo(id);
                    }
                });
    }

    private void undo(LeaseId id) {
        var unused = book.forget(id)
                .flatMap(found -> {
                    BookedLease lease = found.lease();
                    return lease == null ? local.drop(id, null) : local.end(lease);
                })
                .subscribe(nothing -> {}, failed -> {});
    }

    private Mono<Boolean> claimed(Hold hold, Found found, HeldBefore before) {
        List<Claim> claims = before.permits().entrySet().stream()
                .map(each -> ledgers.newClaim(each.getKey(), each.getValue()))
                .toList();
        if (!hold.claim(claims)) {
            return Mono.just(true); // it was released meanwhile
        }
        Mono<Boolean> booked = booked(hold, claims, found, before).cache();
        hold.bring(booked.then());
        return booked;
    }

    private Mono<Boolean> booked(Hold hold, List<Claim> claims, Found found, HeldBefore before) {
        BookedLease lease = found.lease();
        // A call that acquires permits meanwhile goes before: the lease must not get them twice.
        if (lease == null
                || lease.waiting() != null
                || claims.stream().anyMatch(claim -> lease.isHeldOf(claim.pool()))) {
            return Flux.fromIterable(claims)
                    .flatMap(claim -> local.end(hold, claim))
                    .then(Mono.just(true));
        }
        long at = found.clock() - before.heldFor().toMillis();
        List<Grant> grants = claims.stream()
                .map(claim -> new Grant(claim.pool(), claim.permits(), 0, 0, at, claim.name(), false))
                .toList();
        return book.grant(rules.restored(lease, grants), before.token()).flatMap(change -> {
            BookedLease now = change.found().lease();
            if (!change.isDone() || now == null) {
                return booked(hold, claims, change.found(), before);
            }
            hold.lease.knows(now);
            local.expires(now, change.found().clock());
            LeaseStatus status = now.status(change.found().clock());
            events.publish(listener -> listener.restored(status));
            record(hold, claims, now);
            return Mono.just(true);
        });
    }

    private void record(Hold hold, List<Claim> claims, BookedLease lease) {
        long lasts = lease.expires() - book.clock();
        var unused = Flux.fromIterable(claims)
                .flatMap(claim -> ledgers.record(lease.id(), claim, lasts, true)
                        .then(Mono.defer(() -> recorded(hold, claim.name()))))
                .subscribe(done -> {}, failed -> {});
    }

    /** The record is to say that the ledger has the claim, and the ledger is to keep it for as long as the book does by now. */
    private Mono<Void> recorded(Hold hold, String claim) {
        return Mono.defer(() -> book.read(hold.lease.id))
                .flatMap(found -> {
                    BookedLease lease = found.lease();
                    if (lease == null) {
                        return Mono.<LeaseBook.Change>empty();
                    }
                    BookedLease recorded = lease.recorded(claim);
                    return ledgers.extend(recorded.grants(), recorded.expires() - found.clock())
                            .then(Mono.defer(() -> book.change(recorded, Place.KEPT)));
                })
                .flatMap(change -> {
                    BookedLease now = change.found().lease();
                    if (now != null) {
                        hold.lease.knows(now);
                    }
                    return change.isDone() || now == null ? Mono.empty() : recorded(hold, claim);
                })
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, HostBeats.BEATS)
                        .scheduler(time)
                        .filter(failed -> failed instanceof LeasesUnavailableException && local.hosts(hold.lease)));
    }
}
