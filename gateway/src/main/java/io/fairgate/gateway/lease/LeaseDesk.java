package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.spring.quota.TenantCharge;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The operations of the lease API, without HTTP. Each call may be repeated, a lease is visible to its tenant only, and one
 * unit of the tenant's quotas is charged when a lease is granted, whether or not a call waits for it.
 *
 * <p>A lease is over when it was released, has expired, or was refused. Its id is then kept for ten minutes, so that a
 * repetition of the call that acquired it does not acquire another lease.
 *
 * <p>Thread-safe; no method blocks. Answers are emitted on the thread that produces them.
 */
final class LeaseDesk {

    /** A call that may wait longer is answered after this time. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final TenantAccess access;
    private final LeasePools pools;
    private final LeaseRecords records;
    private final LeaseSettings settings;
    private final Scheduler time;
    private final Leases leases;
    private final Map<LeaseId, LeaseAccount> accounts = new ConcurrentHashMap<>();
    private final EndedLeases over;
    /** Leases that a receipt has restored. Cleared by the first restore after the restore window. */
    private final Set<LeaseId> restored = ConcurrentHashMap.newKeySet();

    private volatile long restoreUntil;
    private volatile boolean ending;

    /** A lease and its state at one moment. */
    record Standing(LeaseAccount account, LeaseStatus lease) {}

    LeaseDesk(
            TenantAccess access,
            LeasePools pools,
            LeaseRecords records,
            LeaseSettings settings,
            Leases leases,
            Scheduler time) {
        this.access = access;
        this.pools = pools;
        this.records = records;
        this.settings = settings;
        this.time = time;
        this.leases = leases;
        leases.listen(new Followed());
        this.over = new EndedLeases(settings.maxOpen(), time);
        this.restoreUntil = now();
    }

    Leases leases() {
        return leases;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- start and shutdown ----

    /** From now on holders may restore leases from before the start, for as long as the settings say. */
    void openForRestore() {
        restoreUntil = now() + settings.restoreWindow().value().toNanos();
    }

    /** Ends all waiting leases; their calls are refused because the gateway shuts down. Held leases stay. */
    void beginToEnd() {
        ending = true;
        var unused = leases.ids()
                .concatMap(leases::status)
                .filter(lease -> lease.held().isEmpty())
                .concatMap(lease -> leases.release(lease.id()))
                .subscribe();
    }

    /** Whether no new lease may be acquired. */
    boolean isEnding() {
        return ending;
    }

    /** Releases all leases. */
    void end() {
        var unused = leases.ids().concatMap(leases::release).subscribe();
    }

    // ---- acquire ----

    /**
     * Acquires a lease, or continues with the one that was requested before under the same id.
     *
     * @param check emits the charge, or errors when it would be refused now
     * @return the state of the lease when it is held, or when the call may wait no longer
     */
    Mono<Standing> acquire(LeaseAsk ask, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            LeaseAccount there = accounts.get(ask.id());
            if (there != null) {
                return again(there, ask, check);
            }
            Throwable end = over.get(ask.caller().tenant().id(), ask.id());
            if (end != null) {
                if (!(end instanceof LeaseProblem)) {
                    records.refused(ask); // The charge was refused before, and the repeated call is refused again.
                }
                return Mono.error(end);
            }
            return requireFits(ask)
                    .then(check.doOnError(refused -> records.refused(ask)))
                    .flatMap(charge -> first(ask, charge));
        });
    }

    private Mono<Standing> first(LeaseAsk ask, TenantCharge charge) {
        LeaseAccount mine = new LeaseAccount(ask, charge, unpaid -> {
            records.refused(unpaid);
            release(unpaid.id());
        });
        return begin(mine, ask).flatMap(isFirst -> {
            if (!isFirst) {
                return acquire(ask, Mono.just(charge));
            }
            return leases.open(mine.id(), mine.tenant(), ask.holder(), term(ask))
                    .doFinally(end -> {
                        if (!mine.isOpened()) {
                            abandon(mine);
                        }
                    })
                    .flatMap(isOpen -> isOpen ? opened(mine, ask) : taken(mine));
        });
    }

    private Mono<Standing> opened(LeaseAccount mine, LeaseAsk ask) {
        mine.open();
        return held(mine, ask);
    }

    /** One of several simultaneous calls for an id is the first; the others continue with the lease that it has begun. */
    private Mono<Boolean> begin(LeaseAccount mine, LeaseAsk ask) {
        if (ending) {
            return access.refuseDraining();
        }
        return isOpen(ask.id())
                ? begun(mine, ask)
                : leases.count()
                        .map(LeaseCount::open)
                        .flatMap(open -> open >= settings.maxOpen()
                                ? Mono.error(LeaseProblem.tooMany())
                                : begun(mine, ask));
    }

    private Mono<Boolean> begun(LeaseAccount mine, LeaseAsk ask) {
        if (accounts.putIfAbsent(ask.id(), mine) != null) {
            return Mono.just(false);
        }
        if (over.get(ask.caller().tenant().id(), ask.id()) != null) {
            accounts.remove(ask.id(), mine);
            return Mono.just(false);
        }
        return Mono.just(true);
    }

    /** The opening was cancelled or failed, and may have taken effect. Calls that wait for it begin anew. */
    private void abandon(LeaseAccount mine) {
        release(mine.id());
        forget(mine);
        mine.open();
    }

    /** The id belongs to a lease that was not opened here. */
    private <T> Mono<T> taken(LeaseAccount mine) {
        forget(mine);
        mine.open();
        return Mono.error(LeaseProblem.restoreConflict());
    }

    private Mono<Standing> again(LeaseAccount there, LeaseAsk ask, Mono<TenantCharge> check) {
        return there.permits().equals(ask.permits())
                ? opened(there, ask, acquire(ask, check))
                : Mono.error(LeaseProblem.keyReused());
    }

    /** Continues with a lease once it is open. If a restore was refused and opened none, this call is the first. */
    private Mono<Standing> opened(LeaseAccount there, LeaseAsk ask, Mono<Standing> first) {
        return there.opened().then(Mono.defer(() -> accounts.get(there.id()) == there ? held(there, ask) : first));
    }

    private Mono<Standing> held(LeaseAccount account, LeaseAsk ask) {
        return Mono.defer(() -> leases.acquire(
                        account.id(), new LeaseRequest(account.permits(), patience(ask), ask.ttl()), status -> {}))
                .then(standing(account))
                .onErrorResume(LeaseGoneException.class, gone -> Mono.empty())
                .switchIfEmpty(Mono.defer(() -> gone(account)));
    }

    private <T> Mono<T> gone(LeaseAccount account) {
        Throwable refusal = account.refusal();
        if (refusal != null) {
            return Mono.error(refusal);
        }
        return ending ? access.refuseDraining() : Mono.error(LeaseProblem.ended());
    }

    /** The state of the lease, once it is charged; empty when it is over. */
    private Mono<Standing> standing(LeaseAccount account) {
        return leases.status(account.id())
                .flatMap(status -> status.held().isEmpty()
                        ? Mono.just(status)
                        : account.charged().then(leases.status(account.id())))
                .map(status -> new Standing(account, status));
    }

    private static Duration patience(LeaseAsk ask) {
        return ask.maxWait().compareTo(LONGEST_WAIT) < 0 ? ask.maxWait() : LONGEST_WAIT;
    }

    /** For the time before the grant; after it, the pools bound the lease. */
    private LeaseTerm term(LeaseAsk ask) {
        Duration ttl = ask.permits().keySet().stream()
                .map(pool -> pools.bounds(pool).maxTtl())
                .reduce(ask.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
        return new LeaseTerm(ttl, LeaseTerm.LONGEST);
    }

    private Mono<Void> requireFits(LeaseAsk ask) {
        return pools.requireFits(ask.caller().tenant().id(), ask.permits());
    }

    // ---- existing leases ----

    /** The account of a lease of this tenant; null when the tenant has no lease with this id. */
    @Nullable
    LeaseAccount account(TenantId owner, LeaseId id) {
        LeaseAccount account = accounts.get(id);
        return account == null || !account.owner().equals(owner) ? null : account;
    }

    /** Whether any tenant has a lease with this id. */
    boolean isOpen(LeaseId id) {
        return accounts.containsKey(id);
    }

    /** The state of a lease. Errors with {@link LeaseProblem} when it is over. */
    Mono<Standing> status(LeaseAccount account) {
        return account.opened()
                .then(standing(account))
                .onErrorMap(unpaid -> LeaseProblem.expired())
                .switchIfEmpty(Mono.error(LeaseProblem.expired()));
    }

    /** Makes a lease last that long from now on, as far as its pools allow. Errors like {@link #status}. */
    Mono<Standing> extend(LeaseAccount account, Duration ttl) {
        return leases.extend(account.id(), ttl).then(status(account));
    }

    /** Releases a lease, or its place in the queue. */
    Mono<Void> release(LeaseAccount account) {
        return leases.release(account.id()).then();
    }

    private void release(LeaseId id) {
        var unused = leases.release(id).subscribe();
    }

    // ---- after a restart ----

    /**
     * Restores a lease that was held before a restart. With proof it holds at once what it held; otherwise it is acquired like
     * any other lease. A repeated call continues with the lease of the first.
     *
     * @param proof what the receipt proves; null without a receipt
     * @param check as for {@link #acquire}, for a lease that is acquired
     * @return the state of the lease when it is held, or when the call may wait no longer
     */
    Mono<Standing> restore(LeaseAsk ask, Receipts.@Nullable Proof proof, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            LeaseAccount there = accounts.get(ask.id());
            if (there != null) {
                boolean isSame = there.owner().equals(ask.caller().named())
                        && there.permits().equals(ask.permits());
                return isSame
                        ? opened(there, ask, restore(ask, proof, check))
                        : Mono.error(LeaseProblem.restoreConflict());
            }
            if (isKnownToBeOver(ask, proof)) {
                return Mono.error(LeaseProblem.ended());
            }
            if (!mayRestore()) {
                restored.clear();
                return Mono.error(LeaseProblem.restoreClosed());
            }
            return proof == null
                    ? restoreByQueue(ask, check)
                    : requireFits(ask).then(Mono.defer(() -> restoreFirst(ask, proof, check)));
        });
    }

    private boolean mayRestore() {
        return now() - restoreUntil < 0;
    }

    private boolean isKnownToBeOver(LeaseAsk ask, Receipts.@Nullable Proof proof) {
        return over.get(ask.caller().tenant().id(), ask.id()) != null
                || restored.contains(ask.id())
                || (proof != null && proof.isOfThisProcess());
    }

    private Mono<Standing> restoreByQueue(LeaseAsk ask, Mono<TenantCharge> check) {
        return Mono.defer(() -> {
            records.restored(ask.caller().tenant().id(), "queue");
            return acquire(ask, check);
        });
    }

    private Mono<Standing> restoreFirst(LeaseAsk ask, Receipts.Proof proof, Mono<TenantCharge> check) {
        LeaseAccount mine = new LeaseAccount(ask, null, never -> {});
        return begin(mine, ask).flatMap(isFirst -> {
            if (!isFirst) {
                return restore(ask, proof, check);
            }
            return leases.restore(mine.id(), mine.tenant(), ask.holder(), term(ask), proof.before())
                    .doOnError(refused -> forget(mine))
                    // Other calls may have found the account meanwhile. They learn its result, also after a
                    // cancellation.
                    .doFinally(end -> mine.open())
                    .flatMap(isHeld -> isHeld ? status(mine) : taken(mine))
                    .onErrorResume(LeaseDesk::isTooLarge, notAtOnce -> restoreByQueue(ask, check));
        });
    }

    private static boolean isTooLarge(Throwable failure) {
        return failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE;
    }

    /** Handles the release of a lease that this process does not know: its receipt must not restore it later. */
    void releaseUnknown(Caller caller, LeaseId id) {
        // Unknown tenant ids share one tenant; otherwise they could end each other's leases.
        boolean isTenantItself = caller.named().equals(caller.tenant().id());
        if (isTenantItself && mayRestore()) {
            over.put(caller.named(), id, LeaseProblem.ended());
        }
    }

    private void forget(LeaseAccount account) {
        accounts.remove(account.id(), account);
    }

    // ---- events of leases ----

    /** Follows all leases, also those that other protocols have opened, which have no account here. */
    private final class Followed implements LeaseListener {

        private String word(LeaseStatus lease, End how) {
            if (how == End.EXPIRED) {
                return "expired";
            }
            return ending ? "shut-down" : lease.held().isEmpty() ? "left" : "released";
        }

        private TenantId who(LeaseStatus lease) {
            LeaseAccount account = accounts.get(lease.id());
            return account == null ? lease.tenant() : account.owner();
        }

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            records.granted(lease, permits, who(lease));
            LeaseAccount account = accounts.get(lease.id());
            if (account != null) {
                // Charges even if no call waits for the answer. A call that waits gets the same result.
                var unused = account.charged().subscribe(nothing -> {}, refused -> {});
            }
        }

        @Override
        public void restored(LeaseStatus lease) {
            restored.add(lease.id());
            records.restored(lease, who(lease));
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            LeaseAccount account = accounts.get(lease.id());
            if (account != null && account.isRestored() && reason == RefusalReason.TOO_LARGE) {
                return; // It is acquired through the queue instead.
            }
            records.refused(lease, asked, reason.label(), who(lease));
            if (account != null && !account.isRestored()) {
                release(lease.id());
            }
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            records.extended(lease, ttl, who(lease));
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            records.ended(lease, word(lease, how), who(lease));
            LeaseAccount account = accounts.get(lease.id());
            if (account != null && account.isRestored() && !restored.contains(lease.id())) {
                forget(account); // Its restore was cancelled and may be repeated.
            } else if (account != null) {
                Throwable refusal = account.refusal();
                // Before the account is removed, so that a repeated call always finds one of the two.
                over.put(account.tenant(), lease.id(), refusal == null ? LeaseProblem.ended() : refusal);
                forget(account);
            }
        }

        @Override
        public void released(LeaseStatus lease, LeaseStatus.Held permits) {
            records.gaveBack(lease, permits, who(lease));
        }
    }
}
