package io.fairgate.gateway.lease;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.embedded.Leases;
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
 * What the lease API does, without HTTP: each call may be repeated, every lease is its tenant's alone, and one unit of the
 * tenant's quotas is charged when a lease is granted, whether somebody waits for that or not.
 *
 * <p>A lease is over when it was released, has expired, or was refused. Its id is kept for ten minutes then, so that the
 * call that acquired it does not acquire another one when it is repeated.
 *
 * <p>From any thread; blocks none. Answers are emitted on the thread on which they come about.
 */
final class LeaseDesk {

    /** A call that may wait longer is answered then. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final TenantAccess access;
    private final LeasePools pools;
    private final LeaseRecords records;
    private final LeaseSettings settings;
    private final Scheduler time;
    private final Leases leases;
    private final Map<LeaseId, LeaseAccount> accounts = new ConcurrentHashMap<>();
    private final EndedLeases over;
    /** Leases that a receipt has restored: at most as many as the pools have permits. Emptied after the restore window. */
    private final Set<LeaseId> restored = ConcurrentHashMap.newKeySet();

    private volatile LeaseListener others = LeaseListener.NONE;
    private volatile long restoreUntil;
    private volatile boolean ending;

    /** A lease, and how it stands at one moment. */
    record Standing(LeaseAccount account, LeaseStatus lease) {}

    LeaseDesk(
            TenantAccess access,
            LeasePools pools,
            LeaseRecords records,
            LeaseSettings settings,
            FencingTokens tokens,
            Scheduler time) {
        this.access = access;
        this.pools = pools;
        this.records = records;
        this.settings = settings;
        this.time = time;
        this.leases = new Leases(pools, time, tokens, new Followed());
        this.over = new EndedLeases(settings.maxOpen(), time);
        this.restoreUntil = now();
    }

    Leases leases() {
        return leases;
    }

    /** Who leases permits of the same pools by other rules; also hears of the leases of this desk. */
    Leases leases(LeaseListener other) {
        others = other;
        return leases;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- beginning and end ----

    /** From now on holders may come back that had leases before, for as long as the settings say. */
    void openForRestore() {
        restoreUntil = now() + settings.restoreWindow().value().toNanos();
    }

    /** Ends what waits, and all who wait for it are told that the gateway shuts down. What is held is held. */
    void beginToEnd() {
        ending = true;
        for (LeaseId id : leases.ids()) {
            LeaseStatus lease = leases.status(id);
            if (lease != null && lease.held().isEmpty()) {
                leases.release(id);
            }
        }
    }

    /** Whether nothing is to be begun any more. */
    boolean isEnding() {
        return ending;
    }

    /** Gives all back. */
    void end() {
        leases.ids().forEach(leases::release);
    }

    // ---- acquire ----

    /**
     * Acquires a lease, or goes on with the one that was asked for under the same id.
     *
     * @param check what finds out whether a charge would be refused now
     * @return how the lease stands when it holds, or at the end of what the call may wait
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
                    records.refused(ask); // It could not be paid for, and that is told again.
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
            leases.release(unpaid.id());
        });
        return begin(mine, ask).flatMap(isFirst -> {
            if (!isFirst) {
                return acquire(ask, Mono.just(charge));
            }
            if (!leases.open(mine.id(), mine.tenant(), ask.holder(), term(ask))) {
                return taken(mine);
            }
            mine.open();
            return held(mine, ask);
        });
    }

    /** Of several calls at once for one id one is the first; the others find what it has begun. */
    private Mono<Boolean> begin(LeaseAccount mine, LeaseAsk ask) {
        if (ending) {
            return access.refuseDraining();
        }
        if (!isOpen(ask.id()) && leases.size() >= settings.maxOpen()) {
            return Mono.error(LeaseProblem.tooMany());
        }
        if (accounts.putIfAbsent(ask.id(), mine) != null) {
            return Mono.just(false);
        }
        if (over.get(ask.caller().tenant().id(), ask.id()) != null) {
            accounts.remove(ask.id(), mine);
            return Mono.just(false);
        }
        return Mono.just(true);
    }

    /** The id is somebody's who does not use this desk. */
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

    /** Goes on with a lease once it is open. A restore that was refused has opened none: then this call is the first. */
    private Mono<Standing> opened(LeaseAccount there, LeaseAsk ask, Mono<Standing> first) {
        return there.opened().then(Mono.defer(() -> accounts.get(there.id()) == there ? held(there, ask) : first));
    }

    private Mono<Standing> held(LeaseAccount account, LeaseAsk ask) {
        return Mono.defer(() -> leases.take(
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

    /** How it stands, once it is paid for; nothing when it is over. */
    private Mono<Standing> standing(LeaseAccount account) {
        return Mono.defer(() -> {
                    LeaseStatus status = leases.status(account.id());
                    return status == null || status.held().isEmpty()
                            ? Mono.justOrEmpty(status)
                            : account.charged().then(Mono.fromSupplier(() -> leases.status(account.id())));
                })
                .map(status -> new Standing(account, status));
    }

    private static Duration patience(LeaseAsk ask) {
        return ask.maxWait().compareTo(LONGEST_WAIT) < 0 ? ask.maxWait() : LONGEST_WAIT;
    }

    /** Until something is granted; from then on its pools bound it. */
    private LeaseTerm term(LeaseAsk ask) {
        Duration ttl = ask.permits().keySet().stream()
                .map(pool -> pools.bounds(pool).maxTtl())
                .reduce(ask.ttl(), (one, other) -> one.compareTo(other) <= 0 ? one : other);
        return new LeaseTerm(ttl, LeaseTerm.LONGEST);
    }

    private Mono<Void> requireFits(LeaseAsk ask) {
        return pools.requireFits(ask.caller().tenant().id(), ask.permits());
    }

    // ---- whoever has one ----

    /** The account of a lease that is this tenant's; null when it has none of this id. */
    @Nullable
    LeaseAccount account(TenantId owner, LeaseId id) {
        LeaseAccount account = accounts.get(id);
        return account == null || !account.owner().equals(owner) ? null : account;
    }

    /** Whether somebody has one of this id. */
    boolean isOpen(LeaseId id) {
        return accounts.containsKey(id);
    }

    /** How it stands. Errors with {@link LeaseProblem} when it is over. */
    Mono<Standing> status(LeaseAccount account) {
        return account.opened()
                .then(standing(account))
                .onErrorMap(unpaid -> LeaseProblem.expired())
                .switchIfEmpty(Mono.error(LeaseProblem.expired()));
    }

    /** Makes it last that long from now on, as far as its pools allow. Errors as {@link #status}. */
    Mono<Standing> extend(LeaseAccount account, Duration ttl) {
        return Mono.defer(() -> {
            leases.extend(account.id(), ttl);
            return status(account);
        });
    }

    /** Gives it back, or its place in the queue. */
    void release(LeaseAccount account) {
        leases.release(account.id());
    }

    // ---- after a restart ----

    /**
     * Restores a lease that was held before a restart: with proof it holds at once what it held, and otherwise it is acquired
     * like any other lease. When that was done before, this goes on with that lease.
     *
     * @param proof what its receipt proves; null without a receipt
     * @param check as of {@link #acquire}, for a lease that is acquired
     * @return how the lease stands when it holds, or at the end of what the call may wait
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
                    // Others may have found the account meanwhile, and hear what has become of it, also when it was
                    // cancelled.
                    .doFinally(end -> mine.open())
                    .flatMap(isHeld -> isHeld ? status(mine) : taken(mine))
                    .onErrorResume(LeaseDesk::isTooLarge, notAtOnce -> restoreByQueue(ask, check));
        });
    }

    private static boolean isTooLarge(Throwable failure) {
        return failure instanceof PermitRefusedException refused && refused.reason() == RefusalReason.TOO_LARGE;
    }

    /** A release of a lease that this process does not know: its receipt must not restore it later. */
    void releaseUnknown(Caller caller, LeaseId id) {
        // Ids that share one tenant could end each other's leases in this way.
        boolean isTenantItself = caller.named().equals(caller.tenant().id());
        if (isTenantItself && mayRestore()) {
            over.put(caller.named(), id, LeaseProblem.ended());
        }
    }

    private void forget(LeaseAccount account) {
        accounts.remove(account.id(), account);
    }

    // ---- what becomes of leases ----

    /** Also of those that are opened elsewhere, which have no account here. */
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
            others.granted(lease, permits);
            LeaseAccount account = accounts.get(lease.id());
            if (account != null) {
                // Nobody may be waiting for the answer; who does hears the same.
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
                return; // It is acquired instead.
            }
            records.refused(lease, asked, reason.label(), who(lease));
            if (account != null && !account.isRestored()) {
                leases.release(lease.id());
            }
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            records.extended(lease, ttl, who(lease));
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            records.ended(lease, word(lease, how), who(lease));
            others.ended(lease, how);
            LeaseAccount account = accounts.get(lease.id());
            if (account != null && account.isRestored() && !restored.contains(lease.id())) {
                forget(account); // Its restore was cancelled, and may be repeated.
            } else if (account != null) {
                Throwable refusal = account.refusal();
                // Before it is forgotten: at no moment may a repeated call find neither.
                over.put(account.tenant(), lease.id(), refusal == null ? LeaseProblem.ended() : refusal);
                forget(account);
            }
        }

        @Override
        public void gaveBack(LeaseStatus lease, LeaseStatus.Held permits) {
            records.gaveBack(lease, permits, who(lease));
        }
    }
}
