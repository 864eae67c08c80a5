package io.fairgate.permit.embedded;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * A pool in the memory of this process. While no request waits, permits are taken and given back on the {@link FastPath};
 * otherwise the {@link Drain} has the scheduler decide. The package description follows a request through all parts.
 */
public final class EmbeddedPermitPool implements PermitPool {

    /** Stands for the time when the clock was not read. */
    static final long UNKNOWN = -1;

    final Scheduler time;
    final SliceBound slice = new SliceBound();
    final FastPath fastPath;
    final Drain drain;
    final boolean hasListener;

    private final String name;
    /** The zero of the pool's times, on the clock of {@link #time}. */
    private final long origin;

    private final PoolListener listener;
    private final FairScheduler scheduler;

    /** A pool on the monotonic clock, without a listener. */
    public EmbeddedPermitPool(String name, PoolSettings settings, TenantShares shares) {
        this(name, settings, shares, MonotonicScheduler.INSTANCE, PoolListener.NONE);
    }

    /**
     * @param time the clock and the timers; must be monotonic, as {@link MonotonicScheduler} and virtual time are
     * @throws IllegalArgumentException when the tenants reserve more than the pool has, or a calculated cap is below 1
     */
    public EmbeddedPermitPool(
            String name, PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        shares.requireFit(settings.permits());
        this.name = name;
        this.time = time;
        this.origin = time.now(TimeUnit.NANOSECONDS);
        this.listener = listener;
        this.hasListener = listener != PoolListener.NONE;
        this.scheduler = new FairScheduler(settings.permits(), shares, settings.fairness(), now());
        this.fastPath = new FastPath(scheduler, shares, slice, this::now);
        this.drain = new Drain(this, settings, scheduler, fastPath);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public PoolSettings settings() {
        return drain.settings;
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> actual) {
                new WorkAcquisition<>(EmbeddedPermitPool.this, request, work, actual).ask();
            }
        };
    }

    /** Serialized, because the hold may expire while an element is being emitted. */
    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> actual) {
                new WorkAcquisition<>(EmbeddedPermitPool.this, request, work, Operators.serialize(actual)).ask();
            }
        };
    }

    @Override
    public Mono<HeldPermits> acquire(PermitRequest request) {
        return awaited(request, awaited -> awaited.ask(request));
    }

    @Override
    public Mono<HeldPermits> restore(PermitRequest request) {
        return awaited(request, AwaitedAcquisition::restore);
    }

    private Mono<HeldPermits> awaited(PermitRequest request, Consumer<AwaitedAcquisition> start) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
                start.accept(new AwaitedAcquisition(EmbeddedPermitPool.this, request, actual));
            }
        };
    }

    @Override
    public @Nullable HeldPermits tryAcquire(PermitRequest request) {
        Waiter waiter = new Waiter(this, Acquisition.IMMEDIATE, request, timeOfTaking());
        return waiter.takeAtOnce() ? waiter : null;
    }

    @Override
    public boolean hasOpenPermit(TenantId tenant) {
        return fastPath.hasFree(tenant);
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return drain.answerAfterAll(scheduler::present);
    }

    @Override
    public Mono<PoolTotals> totals() {
        return drain.answerAfterAll(now -> scheduler.totals());
    }

    @Override
    public Mono<TenantStanding> standing(TenantId tenant) {
        return drain.answerAfterAll(now -> scheduler.standing(tenant, now));
    }

    @Override
    public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
        return drain.answer(() -> scheduler.canEverFit(tenant, permits));
    }

    @Override
    public Mono<Void> close(Duration patience) {
        Duration most = PoolSettings.MAX_DURATION;
        Duration bounded = patience.isNegative() ? Duration.ZERO : patience.compareTo(most) < 0 ? patience : most;
        return Mono.defer(() -> {
            // At once, because the drain may be busy.
            fastPath.close();
            return drain.close(bounded);
        });
    }

    @Override
    public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        shares.requireFit(settings.permits());
        return drain.reconfigure(settings, shares);
    }

    /**
     * Has this pool grant only a part of its permits, because other processes grant the rest. It grants nothing until {@link
     * PoolSlice#limit} sets this part. Call it once, before the first request.
     *
     * @param changed runs when more or fewer permits may be needed here: when a request begins to wait for permits of the pool
     *     while no other one does, or is refused because it may not wait, and when permits come back while more are in flight than
     *     {@link PoolSlice#limit} allows. Runs on any thread, and must be quick. An exception goes to Reactor's hook for dropped errors
     */
    public PoolSlice share(Runnable changed) {
        drain.share(changed);
        return new PoolSlice(this);
    }

    /** @param nanos on the clock of {@link #time} */
    void sliceEndsAt(long nanos) {
        drain.sliceEndsAt(nanos == Deadlines.NEVER ? nanos : nanos - origin);
    }

    /** The time in nanoseconds since the pool was made. */
    long now() {
        return time.now(TimeUnit.NANOSECONDS) - origin;
    }

    /** The time, or {@link #UNKNOWN} when there is no listener: reading the clock takes as long as taking a permit. */
    long timeOfTaking() {
        return hasListener ? now() : UNKNOWN;
    }

    long maxWaitNanos(PermitRequest request) {
        return (request.maxWait() == null ? settings().maxWait() : request.maxWait()).toNanos();
    }

    /** What the listener throws does not cost a permit. */
    void report(Consumer<PoolListener> event) {
        try {
            event.accept(listener);
        } catch (RuntimeException | Error e) {
            Guard.drop(e);
        }
    }
}
