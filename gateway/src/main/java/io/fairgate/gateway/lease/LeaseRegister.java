package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import io.fairgate.permit.RefusalReason;
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
 * The leases of this process, with an entry for each lease of the API, and for ten minutes a tombstone of each that has ended.
 * It follows the events of all leases, also of those that another protocol has opened, which have no entry.
 *
 * <p>Thread-safe; no method blocks.
 */
public final class LeaseRegister {

    private final LeaseSettings settings;
    private final LeaseAuditLog audit;
    private final Scheduler time;
    private final Leases leases;
    private final LeaseTombstones tombstones;
    private final Map<LeaseId, LeaseEntry> entries = new ConcurrentHashMap<>();
    /** Leases that a receipt has restored. Cleared by the first restore after the restore window. */
    private final Set<LeaseId> restored = ConcurrentHashMap.newKeySet();

    private volatile long restoreUntil;
    private volatile boolean ending;

    LeaseRegister(LeaseSettings settings, LeaseAuditLog audit, Scheduler time, Leases leases) {
        this.settings = settings;
        this.audit = audit;
        this.time = time;
        this.leases = leases;
        this.tombstones = new LeaseTombstones(settings.maxOpen(), time);
        this.restoreUntil = now();
        leases.listen(new Followed());
    }

    Leases leases() {
        return leases;
    }

    public LeaseAuditLog audit() {
        return audit;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- start and shutdown ----

    /** From now on holders may restore leases from before the start, for as long as the settings say. */
    void openForRestore() {
        restoreUntil = now() + settings.restoreWindow().value().toNanos();
    }

    boolean mayRestore() {
        return now() - restoreUntil < 0;
    }

    /** Ends all waiting leases; their calls are refused because the gateway shuts down. Held leases stay. */
    void beginToEnd() {
        ending = true;
        var unused = leases.ids()
                .concatMap(leases::status)
                .filter(lease -> lease.held().isEmpty())
                .concatMap(lease -> leases.release(lease.id()).onErrorComplete())
                .onErrorComplete()
                .subscribe();
    }

    /** Whether the gateway shuts down, and no new lease may be acquired. */
    public boolean isEnding() {
        return ending;
    }

    void end() {
        var unused = leases.ids()
                .concatMap(id -> leases.release(id).onErrorComplete())
                .onErrorComplete()
                .subscribe();
    }

    /** Releases a lease, without an answer. If the leases cannot be reached, it ends when it expires. */
    void release(LeaseId id) {
        var unused = leases.release(id).onErrorComplete().subscribe();
    }

    // ---- entries ----

    @Nullable
    LeaseEntry find(LeaseId id) {
        return entries.get(id);
    }

    Mono<Boolean> isFull() {
        return leases.count().map(count -> count.open() >= settings.maxOpen());
    }

    /** Of several simultaneous calls with an id one adds its entry. False for the others, and when the lease has ended. */
    boolean add(LeaseEntry entry) {
        if (entries.putIfAbsent(entry.id(), entry) != null) {
            return false;
        }
        if (tombstone(entry.request()) != null) {
            remove(entry);
            return false;
        }
        return true;
    }

    void remove(LeaseEntry entry) {
        entries.remove(entry.id(), entry);
    }

    /** The error for a repeated call for a lease that has ended; null when no such lease is remembered. */
    @Nullable
    Throwable tombstone(AcquireLease request) {
        return tombstones.get(request.tenant(), request.id());
    }

    /** Remembers that a lease of a former process has ended: its receipt must not restore it later. */
    void bury(TenantId tenant, LeaseId id) {
        tombstones.put(tenant, id, LeaseProblems.ENDED);
    }

    boolean wasRestored(LeaseId id) {
        return restored.contains(id);
    }

    void forgetRestored() {
        restored.clear();
    }

    // ---- events ----

    private final class Followed implements LeaseListener {

        private String word(LeaseStatus lease, End how) {
            if (how == End.EXPIRED) {
                return "expired";
            }
            return ending ? "shut-down" : lease.held().isEmpty() ? "left" : "released";
        }

        private TenantId owner(LeaseStatus lease) {
            LeaseEntry entry = find(lease.id());
            return entry == null ? lease.tenant() : entry.request().owner();
        }

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            audit.granted(lease, permits, owner(lease));
            LeaseEntry entry = find(lease.id());
            if (entry != null) {
                // Charges even if no call waits for the answer. A call that waits gets the same result.
                var unused = entry.charged().subscribe(nothing -> {}, refused -> {});
            }
        }

        @Override
        public void restored(LeaseStatus lease) {
            restored.add(lease.id());
            audit.restored(lease, owner(lease));
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            LeaseEntry entry = find(lease.id());
            if (entry != null && entry.isRestored() && reason == RefusalReason.TOO_LARGE) {
                return; // It is acquired through the queue instead.
            }
            audit.refused(lease, asked, reason.label(), owner(lease));
            if (entry != null && !entry.isRestored()) {
                release(lease.id());
            }
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            audit.extended(lease, ttl, owner(lease));
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            audit.ended(lease, word(lease, how), owner(lease));
            LeaseEntry entry = find(lease.id());
            if (entry == null) {
                return;
            }
            // A restore that was cancelled may be repeated.
            if (!entry.isRestored() || wasRestored(lease.id())) {
                Throwable refusal = entry.refusal();
                // Before the entry is removed, so that a repeated call always finds one of the two.
                tombstones.put(entry.request().tenant(), lease.id(), refusal == null ? LeaseProblems.ENDED : refusal);
            }
            remove(entry);
        }

        @Override
        public void released(LeaseStatus lease, LeaseStatus.Held permits) {
            audit.gaveBack(lease, permits, owner(lease));
        }
    }
}
