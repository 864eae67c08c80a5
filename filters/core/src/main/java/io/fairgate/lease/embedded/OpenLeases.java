package io.fairgate.lease.embedded;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * The open leases under one lock, and the timer that ends expired ones.
 *
 * <p>Each step takes the lock and first ends the leases that have expired. Calls that must not run under the lock (signals,
 * listeners, pools) run after it.
 */
final class OpenLeases {

    /** No time. */
    private static final long NEVER = Long.MAX_VALUE;

    /** Ends a lease that has expired; under the lock. */
    interface End {
        void expired(OpenLease lease, long now, Aftermath after);
    }

    /** One step under the lock. */
    interface Step<T> {
        @Nullable
        T take(long now, Aftermath after);
    }

    /** The calls to make after the lock has been released. */
    static final class Aftermath {
        private final List<Runnable> steps = new ArrayList<>(2);

        void then(Runnable step) {
            steps.add(step);
        }

        /** Runs all calls. One that throws is a bug of a listener, and must not cost other leases their permits. */
        private void run() {
            for (Runnable step : steps) {
                try {
                    step.run();
                } catch (RuntimeException | Error e) {
                    Operators.onErrorDropped(e, Context.empty());
                }
            }
        }
    }

    private final Scheduler time;
    private final End end;

    private final Object lock = new Object();

    // Guarded by the lock.
    private final Map<LeaseId, OpenLease> leases = new HashMap<>();
    private final Expiries expiries = new Expiries();
    private final LeaseQueues queues = new LeaseQueues();
    private final Map<TenantId, TenantLeases> tenants = new HashMap<>();
    private long opened;
    private long ringsAt = NEVER;
    private Disposable timer = Disposables.disposed();

    OpenLeases(Scheduler time, End end) {
        this.time = time;
        this.end = end;
    }

    /** Runs a step, which sees no expired lease. An exception of the step is thrown after the calls that follow the lock. */
    <T> @Nullable T locked(Step<T> step) {
        Aftermath after = new Aftermath();
        try {
            synchronized (lock) {
                long now = time.now(TimeUnit.NANOSECONDS);
                try {
                    expireDue(now, after);
                    return step.take(now, after);
                } finally {
                    expireDue(now, after);
                    setTimer(now);
                }
            }
        } finally {
            after.run();
        }
    }

    boolean did(Step<Boolean> step) {
        return Boolean.TRUE.equals(locked(step));
    }

    // ---- under the lock ----

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

    Collection<OpenLease> all() {
        return leases.values();
    }

    LeaseQueues queues() {
        return queues;
    }

    List<LeaseId> ids(TenantId tenant) {
        TenantLeases own = tenants.get(tenant);
        return own == null ? List.of() : own.ids();
    }

    int count(TenantId tenant) {
        TenantLeases own = tenants.get(tenant);
        return own == null ? 0 : own.count();
    }

    void add(OpenLease lease) {
        lease.serial = ++opened;
        leases.put(lease.id, lease);
        tenants.computeIfAbsent(lease.tenant, first -> new TenantLeases()).add(lease);
        expiries.set(lease);
    }

    void remove(OpenLease lease) {
        leases.remove(lease.id);
        tenants.computeIfPresent(lease.tenant, (tenant, own) -> {
            own.remove(lease);
            return own.count() == 0 ? null : own;
        });
        expiries.remove(lease);
        lease.isGone = true;
    }

    void expireAt(OpenLease lease, long when) {
        lease.expiresAt = when;
        expiries.set(lease);
    }

    // ---- time ----

    private void expireDue(long now, Aftermath after) {
        for (OpenLease next = expiries.first(); next != null && next.expiresAt <= now; next = expiries.first()) {
            end.expired(next, now, after);
        }
    }

    /** Sets the timer, which rings at the first expiry or before: setting it for each extension would cost more. */
    private void setTimer(long now) {
        OpenLease first = expiries.first();
        if (first == null) {
            timer.dispose();
            ringsAt = NEVER;
        } else if (first.expiresAt < ringsAt) {
            timer.dispose();
            try {
                ringsAt = first.expiresAt;
                timer = time.schedule(this::ring, Math.max(1, first.expiresAt - now), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException shutDown) {
                ringsAt = NEVER; // No lease expires by itself any more; each call still ends expired leases first.
            }
        }
    }

    private void ring() {
        var unused = did((now, after) -> {
            ringsAt = NEVER;
            return true;
        });
    }
}
