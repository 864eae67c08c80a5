package io.fairgate.redis.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Wait;
import io.fairgate.redis.lease.LeaseBook.Found;
import io.fairgate.redis.lease.LeaseBook.Place;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Has the pools of this gateway follow the book: other gateways change and end the leases that wait here and that were granted here, and give it
 * those of gateways that have ended.
 */
final class BookFollower {

    /** How many leases are looked at at the same time. */
    private static final int AT_ONCE = 16;

    private final LeaseBook book;
    private final LocalLeases local;
    private final LedgerClaims ledgers;

    /** Leases whose record may have been changed by a call without an answer. */
    private final Set<LeaseId> doubted = ConcurrentHashMap.newKeySet();

    BookFollower(LeaseBook book, LocalLeases local, LedgerClaims ledgers) {
        this.book = book;
        this.local = local;
        this.ledgers = ledgers;
    }

    /** The pools are to follow the book soon: it may have been changed without an answer. */
    void doubt(LeaseId id) {
        doubted.add(id);
    }

    /** Follows the book where that was in doubt. */
    Mono<Void> followDoubted() {
        return Flux.fromIterable(List.copyOf(doubted))
                .flatMap(id -> follow(id).filter(isDone -> isDone).doOnNext(done -> doubted.remove(id)), AT_ONCE)
                .then();
    }

    /** Follows what the book says about all leases here: it took this gateway for one that has ended, or has lost writes. */
    Mono<Void> followAll() {
        return Flux.fromIterable(local.all())
                .flatMap(
                        here -> follow(here.id).filter(isDone -> !isDone).doOnNext(notYet -> doubted.add(here.id)),
                        AT_ONCE)
                .then();
    }

    /** Emits those that were followed; the others are to be followed again. In the order of the mail. */
    Flux<LeaseBook.Mail> follow(List<LeaseBook.Mail> mail) {
        return Flux.fromIterable(mail)
                .flatMapSequential(
                        each -> follow(each.id()).filter(isDone -> isDone).map(done -> each), AT_ONCE);
    }

    private Mono<Boolean> follow(LeaseId id) {
        return book.read(id).flatMap(found -> follow(id, found)).onErrorReturn(false);
    }

    private Mono<Boolean> follow(LeaseId id, Found found) {
        BookedLease lease = found.lease();
        HostedLease here = local.get(id);
        if (lease == null || !lease.host().equals(book.gateway())) {
            return local.drop(id, lease).thenReturn(true);
        }
        // What the pools have just decided is about to come into the book.
        if (here != null && (here.isBringing() || here.known().revision() > lease.revision())) {
            return Mono.just(false);
        }
        Wait wait = lease.waiting();
        if (here == null && wait == null) {
            local.forgetPayment(id);
            if (lease.grants().isEmpty()) {
                return Mono.just(true);
            }
        }
        HostedLease now = local.hosted(lease);
        local.expires(lease, found.clock());
        local.keep(lease, found.clock());
        local.leave(now, wait == null ? null : wait.permits(), null);
        return endOthers(now, lease)
                .then(Mono.fromRunnable(() -> {
                    if (wait != null) {
                        local.begin(lease, wait);
                    }
                }))
                .thenReturn(true);
    }

    /** Ends the claims that the record does not name. */
    private Mono<Void> endOthers(HostedLease here, BookedLease lease) {
        Set<String> named = lease.grants().stream().map(Grant::claim).collect(Collectors.toSet());
        return Flux.fromIterable(here.holds())
                .filter(hold -> !hold.isBringing())
                .flatMap(hold -> Flux.fromIterable(hold.claims())
                        .filter(claim -> !named.contains(claim.name()))
                        .flatMap(claim -> local.end(hold, claim)))
                .then();
    }

    /** After lost writes: the ledgers are to keep what the book says. */
    Mono<Void> extendAll() {
        return Flux.fromIterable(local.all())
                .map(HostedLease::known)
                .filter(lease -> !lease.grants().isEmpty())
                .flatMap(
                        lease -> ledgers.extend(lease.grants(), lease.expires() - book.clock())
                                .onErrorComplete(),
                        AT_ONCE)
                .then();
    }

    /**
     * The lease in the queue where it waits now: one that waits for permits of several pools goes from queue to queue. Emits it as it is when it
     * waits elsewhere.
     */
    Mono<BookedLease> inQueue(BookedLease lease) {
        Wait wait = lease.waiting();
        return wait == null || !lease.host().equals(book.gateway())
                ? Mono.just(lease)
                : inPools(lease.id())
                        .filter(here -> !here.pool().equals(wait.pool()))
                        .map(here -> lease.waitingFor(wait.inQueueOf(here.pool(), here.place()), lease.host()))
                        .defaultIfEmpty(lease);
    }

    private Mono<LeaseStatus.Waiting> inPools(LeaseId id) {
        HostedLease here = local.get(id);
        return here == null ? Mono.empty() : local.waiting(here);
    }

    /**
     * Looks for leases that should wait here, and do not: their pools were out of reach for a while. Leases that wait in the queue of another
     * pool by now are brought into its queue in the book.
     */
    Mono<Void> followWaiting() {
        return Flux.fromIterable(local.all())
                .filter(here -> here.known().waiting() != null && !here.isBringing())
                .flatMap(
                        here -> local.waiting(here)
                                .hasElement()
                                .flatMap(waits ->
                                        waits ? moved(here) : follow(here.id).then()),
                        AT_ONCE)
                .then();
    }

    private Mono<Void> moved(HostedLease here) {
        BookedLease lease = here.known();
        return inQueue(lease)
                .filter(now -> !now.equals(lease))
                .flatMap(now -> book.change(now, Place.MOVED))
                .doOnNext(change -> {
                    BookedLease now = change.found().lease();
                    if (now != null && now.host().equals(book.gateway())) {
                        here.knows(now);
                    }
                })
                .onErrorComplete() // the next look will find it again
                .then();
    }
}
