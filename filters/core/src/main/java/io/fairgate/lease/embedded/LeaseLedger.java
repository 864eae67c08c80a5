package io.fairgate.lease.embedded;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseListener.End;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeasedPools;
import io.fairgate.permit.PermitPool;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/**
 * The open leases under one lock, and the timer that ends expired ones.
 *
 * <p>Each step takes the lock and first ends the leases that have expired. Calls that must not run under the lock (signals,
 * listeners, pools) follow the step.
 */
final class LeaseLedger {

    private static final long NEVER = Long.MAX_VALUE;

    final LeasedPools pools;
    final Scheduler time;
    final FencingTokens tokens;
    final List<LeaseListener> listeners = new CopyOnWriteArrayList<>();

    private final Object lock = new Object();

    // Guarded by the lock.
    private final Map<LeaseId, OpenLease> leases = new HashMap<>();
    private final TreeSet<OpenLease> byExpiry = new TreeSet<>(
            Comparator.<OpenLease>comparingLong(lease -> lease.expiresAt).thenComparingLong(lease -> lease.serial));
    private final Map<TenantId, List<OpenLease>> byTenant = new HashMap<>();
    final LeaseQueues queues = new LeaseQueues();
    final EndedLeases ended;
    int holding;

    private long opened;
    private long ringsAt = NEVER;
    private Disposable timer = Disposables.disposed();

    LeaseLedger(LeasedPools pools, Scheduler time, FencingTokens tokens) {
        this.pools = pools;
        this.time = time;
        this.tokens = tokens;
        this.ended = new EndedLeases(time.now(TimeUnit.NANOSECONDS));
    }

    /** Takes a step, which sees no expired lease. An exception of it is thrown after the calls that follow the lock. */
    <T> @Nullable T locked(Function<LedgerStep, @Nullable T> action) {
        LedgerStep step = new LedgerStep();
        try {
            synchronized (lock) {
                step.now = time.now(TimeUnit.NANOSECONDS);
                try {
                    endExpired(step);
                    return action.apply(step);
                } finally {
                    endExpired(step);
                    setTimer(step.now);
                }
            }
        } finally {
            step.makeCalls();
        }
    }

    void run(Consumer<LedgerStep> action) {
        var unused = locked(step -> {
            action.accept(step);
            return true;
        });
    }

    // ---- all of the following under the lock ----

    @Nullable
    OpenLease find(LeaseId id) {
        return leases.get(id);
    }

    OpenLease require(LeaseId id) {
        OpenLease lease = leases.get(id);
        if (lease == null) {
            throw new LeaseGoneException(id);
        }
        return lease;
    }

    Set<LeaseId> ids() {
        return leases.keySet();
    }

    Collection<OpenLease> all() {
        return leases.values();
    }

    List<OpenLease> leases(TenantId tenant) {
        return byTenant.getOrDefault(tenant, List.of());
    }

    LeaseStatus status(OpenLease lease, long now) {
        LeaseAcquisition waiting = lease.waiting;
        return lease.status(
                waiting == null
                        ? null
                        : new LeaseStatus.Waiting(
                                waiting.permits, waiting.pool, queues.place(waiting), now - waiting.requestedAt),
                now);
    }

    PermitPool requirePool(String name) {
        PermitPool pool = pools.find(name);
        if (pool == null) {
            throw unknownPool(name);
        }
        return pool;
    }

    static IllegalArgumentException unknownPool(String name) {
        return new IllegalArgumentException(
                "unknown pool \"%s\" (expected: the name of an existing pool)".formatted(name));
    }

    void publish(LedgerStep step, Consumer<LeaseListener> event) {
        listeners.forEach(listener -> step.after(() -> event.accept(listener)));
    }

    void add(OpenLease lease) {
        lease.serial = ++opened;
        leases.put(lease.id, lease);
        List<OpenLease> own = byTenant.computeIfAbsent(lease.tenant, first -> new ArrayList<>());
        lease.place = own.size();
        own.add(lease);
        byExpiry.add(lease);
    }

    void addGrant(OpenLease lease, OpenLease.Grant grant) {
        holding += lease.grants.isEmpty() ? 1 : 0;
        lease.grants =
                List.of(Stream.concat(lease.grants.stream(), Stream.of(grant)).toArray(OpenLease.Grant[]::new));
    }

    void removeGrant(OpenLease lease, OpenLease.Grant grant, LedgerStep step) {
        lease.grants = lease.grants.stream().filter(each -> !each.equals(grant)).toList();
        holding -= lease.grants.isEmpty() ? 1 : 0;
        step.after(grant.permits()::release);
    }

    void end(OpenLease lease, End how, LedgerStep step) {
        LeaseStatus status = status(lease, step.now);
        remove(lease);
        ended.put(lease.tenant, lease.id, lease.remembered().toNanos(), step.now);
        // Before its permits go to the next lease: a listener that adds up both would count too many in between.
        publish(step, listener -> listener.ended(status, how));
        lease.grants.forEach(grant -> removeGrant(lease, grant, step));
        LeaseAcquisition waiting = lease.waiting;
        if (waiting != null) {
            waiting.leave(step);
            step.after(() -> waiting.answer.fail(new LeaseGoneException(lease.id)));
        }
    }

    private void remove(OpenLease lease) {
        lease.isGone = true;
        leases.remove(lease.id);
        byExpiry.remove(lease);
        List<OpenLease> own = Objects.requireNonNull(byTenant.get(lease.tenant));
        OpenLease last = own.remove(own.size() - 1);
        if (last != lease) {
            own.set(lease.place, last);
            last.place = lease.place;
        }
        if (own.isEmpty()) {
            byTenant.remove(lease.tenant);
        }
    }

    // ---- time, under the lock ----

    /** The time to expiry, cut to the bounds of all pools of which the lease holds or wants permits. */
    long boundedNanos(OpenLease lease, Duration ttl) {
        Stream<String> wanted = lease.waiting == null ? Stream.of() : lease.waiting.permits.keySet().stream();
        return Stream.concat(lease.grants.stream().map(OpenLease.Grant::pool), wanted)
                .mapToLong(pool -> pools.bounds(pool).maxTtl().toNanos())
                .reduce(ttl.toNanos(), Math::min);
    }

    /** The time, but not beyond the maximum hold of the lease and of its pools. */
    long bounded(OpenLease lease, long when) {
        return lease.grants.stream()
                .mapToLong(grant ->
                        grant.at() + pools.bounds(grant.pool()).maxHold().toNanos())
                .reduce(Math.min(when, lease.endsAt), Math::min);
    }

    void expireAt(OpenLease lease, long when) {
        byExpiry.remove(lease);
        lease.expiresAt = when;
        byExpiry.add(lease);
    }

    private void endExpired(LedgerStep step) {
        while (!byExpiry.isEmpty() && byExpiry.first().expiresAt <= step.now) {
            end(byExpiry.first(), End.EXPIRED, step);
        }
    }

    /** Sets the timer, which rings at the first expiry or before: setting it for each extension would cost more. */
    private void setTimer(long now) {
        long first = byExpiry.isEmpty() ? NEVER : byExpiry.first().expiresAt;
        if (first == NEVER) {
            timer.dispose();
            ringsAt = NEVER;
        } else if (first < ringsAt) {
            timer.dispose();
            try {
                ringsAt = first;
                timer = time.schedule(this::ring, Math.max(1, first - now), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                ringsAt = NEVER; // No lease expires by itself any more; each call still ends expired leases first.
            }
        }
    }

    private void ring() {
        run(step -> ringsAt = NEVER);
    }
}
