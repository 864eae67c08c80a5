package io.fairgate.redis.lease;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.redis.lease.BookedLease.Grant;
import io.fairgate.redis.lease.BookedLease.Wait;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The leases that this gateway hosts: they wait in its pools, or these have granted their permits, or the gateway that has granted them has
 * ended. Each {@link Hold} is one of {@link EmbeddedLeases}, whose queues and permits these are, and which never expires there: the book ends
 * it. For any thread.
 */
final class LocalLeases {

    private static final LeaseTerm FOR_EVER = new LeaseTerm(LeaseTerm.LONGEST, LeaseTerm.LONGEST);

    @SuppressWarnings("StaticAssignmentOfThrowable") // It has no stack trace.
    private static final LeasesUnavailableException MOVED =
            new LeasesUnavailableException(new IllegalStateException("the lease waits at another gateway now"));

    /** The bounds of leases are those of the book. */
    private record Unbounded(LeasedPools pools) implements LeasedPools {
        @Override
        public @Nullable PermitPool find(String name) {
            return pools.find(name);
        }
    }

    private final EmbeddedLeases local;
    private final LedgerClaims ledgers;
    private final Expiries expiries;
    private final Map<LeaseId, HostedLease> hosted = new ConcurrentHashMap<>();

    /** By their ids in the pools. */
    private final Map<LeaseId, Hold> holds = new ConcurrentHashMap<>();

    /** What is due when the pools grant what a lease waits for. */
    private final Map<LeaseId, Mono<Void>> payments = new ConcurrentHashMap<>();

    private volatile boolean isDraining;

    LocalLeases(LeasedPools pools, LedgerClaims ledgers, Expiries expiries, Scheduler time) {
        this.local = new EmbeddedLeases(new Unbounded(pools), time, new FencingTokens(InstantSource.system()));
        this.ledgers = ledgers;
        this.expiries = expiries;
    }

    /** Tells what the pools decide about holds, by their ids in the pools. */
    void listen(LeaseListener listener) {
        local.listen(listener);
    }

    @Nullable
    Hold hold(LeaseId inPools) {
        return holds.get(inPools);
    }

    @Nullable
    HostedLease get(LeaseId id) {
        return hosted.get(id);
    }

    List<HostedLease> all() {
        return List.copyOf(hosted.values());
    }

    HostedLease hosted(BookedLease lease) {
        HostedLease here = hosted.computeIfAbsent(lease.id(), first -> new HostedLease(lease));
        here.knows(lease);
        return here;
    }

    /** Keeps what is known now of a lease, if this gateway hosts it. */
    void knows(BookedLease lease, long clock) {
        HostedLease here = hosted.get(lease.id());
        if (here != null) {
            here.knows(lease);
            keep(lease, clock);
            expires(lease, clock);
        }
    }

    /** It is looked at when it expires. */
    void expires(BookedLease lease, long clock) {
        if (hosted.containsKey(lease.id())) {
            expiries.set(lease.id(), lease.expires() - clock);
        }
    }

    /** This gateway tells the ledgers of the permits of this lease when they have lost them, whichever gateway has granted them. */
    void keep(BookedLease lease, long clock) {
        HostedLease here = hosted.get(lease.id());
        if (here == null) {
            return;
        }
        List<Grant> before;
        synchronized (here) { // what leaves this gateway meanwhile must not be kept
            before = here.kept();
            if (!hosts(here) || !here.keeps(lease)) {
                return;
            }
            ledgers.keep(lease.grants(), lease.expires() - clock);
        }
        Set<String> named = claims(lease);
        before.stream()
                .filter(grant -> !named.contains(grant.claim()))
                .forEach(ended -> end(here, ended).subscribe());
    }

    private static Set<String> claims(BookedLease lease) {
        return lease.grants().stream().map(Grant::claim).collect(Collectors.toSet());
    }

    boolean hosts(HostedLease lease) {
        return hosted.get(lease.id) == lease;
    }

    // ---- payments ----

    /** @param later null leaves the earlier payment in its place */
    void pay(LeaseId id, @Nullable Mono<Void> later) {
        if (later != null) {
            payments.put(id, later);
        }
    }

    /** What is due now; each payment is made once. */
    Mono<Void> payment(LeaseId id) {
        Mono<Void> due = payments.remove(id);
        return due == null ? Mono.empty() : due;
    }

    void forgetPayment(LeaseId id) {
        payments.remove(id);
    }

    /** It stays due until the record says that the lease waits no longer: the lease must not get its permits without it. */
    void refuse(LeaseId id, Mono<Void> refused) {
        payments.putIfAbsent(id, refused);
    }

    void paid(LeaseId id, Mono<Void> payment) {
        payments.remove(id, payment);
    }

    /** The call that brought this payment waits no longer. It stays for a lease that waits here. */
    void withdraw(LeaseId id, @Nullable Mono<Void> payment) {
        if (payment != null && !hosted.containsKey(id)) {
            payments.remove(id, payment);
        }
    }

    // ---- waiting ----

    /**
     * Waits in the pools for what the record says.
     *
     * @param hold as from {@link #begin}
     * @return true when the lease holds the permits, and the book says so; false when it waits on, or waits no longer
     */
    Mono<Boolean> acquire(Hold hold, BookedLease lease, Wait wait, Duration answerWithin) {
        return Mono.defer(() -> {
            if (isDraining) {
                return Mono.<Boolean>error(new LeaseGoneException(lease.id()));
            }
            if (hold.isClaimed()) {
                return hold.brought()
                        .thenReturn(true)
                        .onErrorResume(LeaseGoneException.class, gone -> left(hold, gone));
            }
            return opened(hold, lease)
                    .then(local.acquire(hold.inPools, new LeaseRequest(wait.permits(), answerWithin, null)))
                    .flatMap(isHeld -> isHeld ? hold.brought().thenReturn(true) : Mono.just(false))
                    .onErrorResume(LeaseGoneException.class, gone -> left(hold, gone))
                    .onErrorResume(
                            PermitRefusedException.class,
                            refused -> hold.brought().then(Mono.error(refused)))
                    .onErrorMap(PoolUnavailableException.class, LeasesUnavailableException::new);
        });
    }

    private Mono<?> opened(Hold hold, BookedLease lease) {
        holds.put(hold.inPools, hold);
        if (hold.hasLeft()) {
            holds.remove(hold.inPools);
            return Mono.error(new LeaseGoneException(lease.id()));
        }
        return local.open(hold.inPools, lease.holder(), FOR_EVER);
    }

    private static Mono<Boolean> left(Hold hold, LeaseGoneException gone) {
        Throwable why = hold.hasLeft() ? hold.why() : gone;
        return why == null ? Mono.just(false) : Mono.error(why);
    }

    /** Begins to wait, if it does not wait yet. */
    Hold begin(BookedLease lease, Wait wait) {
        Hold hold = hosted(lease).waitingFor(wait.permits());
        var unused = acquire(hold, lease, wait, Duration.ZERO).subscribe(held -> {}, failed -> {});
        return hold;
    }

    /** Where a lease waits in the pools; empty when it does not. */
    Mono<LeaseStatus.Waiting> waiting(HostedLease here) {
        return Flux.fromIterable(here.holds())
                .filter(Hold::isWaiting)
                .concatMap(hold -> local.status(hold.inPools))
                .mapNotNull(LeaseStatus::waiting)
                .next();
    }

    /**
     * The lease leaves all queues, except for this request. Permits that are granted stay.
     *
     * @param but null for all
     * @param why what the calls that wait get; null when they get false
     */
    void leave(HostedLease here, @Nullable Map<String, Integer> but, @Nullable Throwable why) {
        for (Hold hold : here.holds()) {
            if (!hold.permits.equals(but) && hold.leave(why)) {
                forget(hold);
            }
        }
    }

    /** The hold is no more in the pools. */
    private void forget(Hold hold) {
        hold.lease.remove(hold);
        holds.remove(hold.inPools);
        var unused = local.release(hold.inPools).onErrorComplete().subscribe();
    }

    // ---- the end ----

    /** Ends what was claimed of one pool, in the ledger and here. */
    Mono<Void> end(Hold hold, Claim claim) {
        return hold.remove(claim)
                ? ledgers.end(claim.pool(), claim.name(), () -> release(hold, claim.pool()))
                : Mono.empty();
    }

    private Mono<Void> leave(Hold hold, Claim claim) {
        return hold.remove(claim)
                ? ledgers.leave(claim.pool(), claim.name(), () -> release(hold, claim.pool()))
                : Mono.empty();
    }

    private void release(Hold hold, String pool) {
        var unused = local.release(hold.inPools, pool).onErrorComplete().subscribe(done -> {}, failed -> {}, () -> {
            if (hold.released()) {
                forget(hold);
            }
        });
    }

    /** Ends the permits of one pool that a lease held, wherever they were granted. */
    Mono<Void> end(LeaseId id, Grant grant) {
        return end(hosted.get(id), grant);
    }

    private Mono<Void> end(@Nullable HostedLease here, Grant grant) {
        if (here != null) {
            here.keepsNot(grant);
            for (Hold hold : here.holds()) {
                for (Claim claim : hold.claims()) {
                    if (claim.name().equals(grant.claim())) {
                        return end(hold, claim);
                    }
                }
            }
        }
        return ledgers.end(grant.pool(), grant.claim(), () -> {});
    }

    /** A lease has ended, and its record is removed. Completes when its permits can be granted again. */
    Mono<Void> end(BookedLease lease) {
        HostedLease here = hosted.get(lease.id());
        return Flux.fromIterable(lease.grants())
                .flatMap(grant -> end(here, grant))
                .then(Mono.defer(() -> {
                    forgetPayment(lease.id());
                    return here == null ? Mono.empty() : drop(here, null);
                }));
    }

    /**
     * A lease leaves this gateway.
     *
     * @param goesOn its record; null when it has ended
     */
    Mono<Void> drop(LeaseId id, @Nullable BookedLease goesOn) {
        forgetPayment(id);
        HostedLease here = hosted.get(id);
        return here == null ? Mono.empty() : drop(here, goesOn);
    }

    private Mono<Void> drop(HostedLease here, @Nullable BookedLease goesOn) {
        List<Grant> kept;
        synchronized (here) {
            if (!hosted.remove(here.id, here)) {
                return Mono.empty();
            }
            kept = here.kept();
        }
        expiries.forget(here.id);
        leave(here, null, goesOn == null ? new LeaseGoneException(here.id) : MOVED);
        Set<String> goOn = goesOn == null ? Set.of() : claims(goesOn);
        Set<String> own = new HashSet<>();
        List<Mono<Void>> ends = new ArrayList<>();
        for (Hold hold : here.holds()) {
            for (Claim claim : hold.claims()) {
                own.add(claim.name());
                ends.add(goOn.contains(claim.name()) ? leave(hold, claim) : end(hold, claim));
            }
        }
        if (goesOn == null) {
            kept.stream().filter(grant -> !own.contains(grant.claim())).forEach(grant -> ends.add(end(here, grant)));
        } else {
            ledgers.forget(kept);
        }
        return Mono.when(ends);
    }

    /** No lease waits here any more. Permits that are granted stay. */
    void drain() {
        isDraining = true;
        all().forEach(here -> leave(here, null, new LeaseGoneException(here.id)));
    }

    /** All leases leave the pools of this gateway, and go on. */
    Mono<Void> dropAll() {
        return Flux.fromIterable(all())
                .flatMap(here -> drop(here.id, here.known()))
                .then();
    }

    // ---- restoring ----

    /** Counts permits as held although no pool has granted them; errors as {@link EmbeddedLeases#restore} does. */
    Mono<Void> restore(Hold hold, BookedLease lease, HeldBefore before) {
        return Mono.defer(() -> {
            holds.put(hold.inPools, hold);
            return local.restore(hold.inPools, lease.holder(), FOR_EVER, before).then();
        });
    }
}
