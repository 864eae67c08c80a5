package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The leases behind the lease port, from its opening to its end. Their events go to the audit log and the meters, also those of
 * leases that another protocol has opened.
 *
 * <p>Thread-safe; no method blocks.
 */
public final class LeaseRegister {

    /** How long the id of a lease is kept after its end. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    private final LeaseSettings settings;
    private final LeaseAuditLog audit;
    private final Scheduler time;
    private final Leases leases;
    /** Leases that a receipt has restored. Cleared by the first restore after the restore window. */
    private final Set<LeaseId> restored = ConcurrentHashMap.newKeySet();
    /** Leases that are being restored, each with what completes when that has ended. */
    private final Map<LeaseId, Sinks.Empty<Void>> restoring = new ConcurrentHashMap<>();
    /** Leases that an operator is ending. */
    private final Set<LeaseId> revoking = ConcurrentHashMap.newKeySet();

    private final long madeAt;
    private volatile long openAt;
    private volatile boolean ending;

    LeaseRegister(LeaseSettings settings, LeaseAuditLog audit, Scheduler time, Leases leases) {
        this.settings = settings;
        this.audit = audit;
        this.time = time;
        this.leases = leases;
        this.madeAt = now();
        this.openAt = madeAt;
        leases.listen(new Followed());
    }

    public Leases leases() {
        return leases;
    }

    public LeaseAuditLog audit() {
        return audit;
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    // ---- start and shutdown ----

    /** The port is open. */
    void open() {
        openAt = now();
    }

    /** Ends the wait of all calls, which are refused because the gateway shuts down. Held leases stay. */
    void beginToEnd() {
        ending = true;
        var unused = leases.drain().onErrorComplete().subscribe();
    }

    /** Whether the gateway shuts down, and no new lease may be acquired. */
    public boolean isEnding() {
        return ending;
    }

    Mono<Void> end() {
        return leases.close();
    }

    Mono<Boolean> isFull() {
        return leases.count().map(count -> count.open() >= settings.maxOpen());
    }

    /**
     * Ends a lease for an operator.
     *
     * @return false when there is no lease with this id
     */
    Mono<Boolean> revoke(LeaseId id) {
        return Mono.defer(() -> {
            revoking.add(id);
            return leases.release(id).doFinally(end -> revoking.remove(id));
        });
    }

    // ---- restores ----

    /** How long the id of a lease is kept after its end, and at least for as long as a receipt could restore it. */
    Duration remembered() {
        Duration window = settings.restoreWindow().value();
        return window.compareTo(REMEMBERED) > 0 ? window : REMEMBERED;
    }

    /**
     * Whether holders may restore leases that this memory does not know: for as long as the settings say, from its beginning on. The
     * time that this gateway took to start does not count.
     */
    boolean mayRestore(LeaseMemory memory) {
        Duration served = memory.age().minusNanos(openAt - madeAt);
        return served.compareTo(settings.restoreWindow().value()) < 0;
    }

    /** Makes a restore. Empty when another call is making one of the same lease, and then completes when that has ended. */
    <T> Mono<T> restoring(LeaseId id, Mono<T> restore) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> mine = Sinks.empty();
            Sinks.Empty<Void> other = restoring.putIfAbsent(id, mine);
            return other == null
                    ? restore.doFinally(end -> {
                        restoring.remove(id, mine);
                        mine.tryEmitEmpty();
                    })
                    : other.asMono().then(Mono.empty());
        });
    }

    /** Completes when the restore of a lease has ended; null when this gateway is not making one. */
    @Nullable
    Mono<Void> restoreOf(LeaseId id) {
        Sinks.Empty<Void> made = restoring.get(id);
        return made == null ? null : made.asMono();
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
            if (revoking.contains(lease.id())) {
                return "revoked";
            }
            return ending ? "shut-down" : lease.held().isEmpty() ? "left" : "released";
        }

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            audit.granted(lease, permits);
        }

        @Override
        public void restored(LeaseStatus lease) {
            restored.add(lease.id());
            audit.restored(lease);
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            // If it is too large, it is acquired through the queue instead.
            if (reason != RefusalReason.TOO_LARGE || !restoring.containsKey(lease.id())) {
                audit.refused(lease, asked, reason.label());
            }
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            audit.extended(lease, ttl);
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            audit.ended(lease, word(lease, how));
        }

        @Override
        public void released(LeaseStatus lease, LeaseStatus.Held permits) {
            audit.gaveBack(lease, permits);
        }
    }
}
