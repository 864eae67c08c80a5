package io.fairgate.permit;

import io.fairgate.fairness.Claim;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.TenantShares;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * A pool inside this process.
 *
 * <p>Whoever has news (a new waiter, a cancellation, permits given back) puts it into {@link #news} and calls
 * {@link #drain}. One thread at a time works the news off; the others have left already, so no thread ever waits for
 * another. That makes the scheduler plain single-threaded code. News is not an instruction: a waiter in the queue only
 * means "look at me again", and the drain brings the scheduler into agreement with the waiter's state. Telling it twice
 * changes nothing, which is what makes a double release impossible.
 *
 * <p>What was granted goes to {@link #ready}, and is handed to the waiters' executors by a loop of its own: code of the
 * user never runs inside the drain, and a work that completes at once and thereby grants the next one does not nest.
 */
public final class EmbeddedPermitPool implements PermitPool {

    private final String name;
    private final Scheduler time;
    private final PoolListener listener;

    private final Queue<Runnable> news =
            Queues.<Runnable>unboundedMultiproducer().get();
    private final AtomicInteger newsCount = new AtomicInteger();
    private final Queue<Runnable> ready =
            Queues.<Runnable>unboundedMultiproducer().get();
    private final AtomicInteger readyCount = new AtomicInteger();
    private final Sinks.Empty<Void> idle = Sinks.empty();

    private volatile PoolSettings settings;

    // Below: only the thread that drains.
    private final FairScheduler scheduler;
    private final List<PermitWaiter<?>> arrived = new ArrayList<>();
    private boolean closing;
    private Disposable patience = Disposables.disposed();

    /** A pool for production: monotonic time, nobody listens. */
    public EmbeddedPermitPool(String name, PoolSettings settings, TenantShares shares) {
        this(name, settings, shares, MonotonicScheduler.INSTANCE, PoolListener.NONE);
    }

    /**
     * @param time the clock and the timers; must be monotonic, as {@link MonotonicScheduler} and virtual time are
     * @throws IllegalArgumentException when the tenants reserve more permits than there are
     */
    public EmbeddedPermitPool(
            String name, PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        requireReservationsFit(settings, shares);
        this.name = name;
        this.settings = settings;
        this.time = time;
        this.listener = new GuardedListener(listener);
        this.scheduler = new FairScheduler(settings.permits(), shares, now());
    }

    @Override
    public String name() {
        return name;
    }

    public PoolSettings settings() {
        return settings;
    }

    @Override
    public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
        return new MonoWithPermit<>(this, request, work);
    }

    @Override
    public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
        return new FluxWithPermit<>(this, request, work);
    }

    @Override
    public Mono<PoolStatus> snapshot() {
        return Mono.create(sink -> tell(() -> {
            PoolStatus status = scheduler.status(now());
            ready.offer(() -> sink.success(status));
        }));
    }

    @Override
    public Mono<Void> close(Duration patience) {
        return Mono.defer(() -> {
            tell(() -> {
                closing = true;
                this.patience.dispose();
                this.patience = time.schedule(
                        () -> tell(this::refuseAllWaiting), Math.max(0, patience.toNanos()), TimeUnit.NANOSECONDS);
            });
            return idle.asMono();
        });
    }

    /**
     * Changes size, bounds and shares while they are in use. Permits held and places in the queue stay; how far each
     * tenant is ahead or behind stays. Takes effect at once unless another thread is at work in the pool, then soon.
     *
     * @throws IllegalArgumentException when the tenants reserve more permits than there are; nothing is changed then
     */
    public void reconfigure(PoolSettings settings, TenantShares shares) {
        requireReservationsFit(settings, shares);
        tell(() -> {
            this.settings = settings;
            long now = now();
            scheduler.resize(settings.permits(), now);
            scheduler.reconfigure(shares, now);
        });
    }

    private static void requireReservationsFit(PoolSettings settings, TenantShares shares) {
        if (shares.reserved() > settings.permits()) {
            throw new IllegalArgumentException("permits: %d (expected: at least %d, which the tenants reserve)"
                    .formatted(settings.permits(), shares.reserved()));
        }
    }

    // ---- for the waiters ----

    long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    Scheduler time() {
        return time;
    }

    PoolListener listener() {
        return listener;
    }

    /** Has the waiter looked at: it is new, or its state has changed. */
    void look(PermitWaiter<?> waiter) {
        tell(() -> reconcile(waiter));
    }

    // ---- the drain: one thread at a time ----

    private void tell(Runnable what) {
        news.offer(what);
        drain();
        dispatch();
    }

    private void drain() {
        if (newsCount.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            runAll(news);
            guarded(this::handOut);
            if (closing && scheduler.waiting() == 0 && scheduler.inFlight() == 0) {
                patience.dispose();
                ready.offer(idle::tryEmitEmpty);
            }
            seen = newsCount.addAndGet(-seen);
        } while (seen != 0);
    }

    private void handOut() {
        scheduler.grant(now(), this::makeReady);
        refuseBeyondBounds();
    }

    /** Brings the scheduler into agreement with the state of the waiter. */
    private void reconcile(PermitWaiter<?> waiter) {
        boolean over = waiter.isOver();
        if (over && waiter.isHolding()) {
            scheduler.release(waiter, now());
        } else if (over && waiter.isWaiting()) {
            waiter.noteWaitedFor(scheduler.waitsForOwnCap(waiter) ? RefusalReason.TENANT_CAP : RefusalReason.MAX_WAIT);
            scheduler.cancel(waiter, now());
        } else if (!over && waiter.isNew()) {
            admit(waiter);
        }
        if (waiter.isToBeToldOfTimeout()) {
            makeReady(waiter);
        }
    }

    private void admit(PermitWaiter<?> waiter) {
        if (closing) {
            refuse(waiter, RefusalReason.DRAINING);
        } else if (!scheduler.canEverFit(waiter.tenant(), waiter.permits())) {
            refuse(waiter, RefusalReason.TOO_LARGE);
        } else {
            scheduler.enqueue(waiter, now());
            arrived.add(waiter);
        }
    }

    /** After the grants, so that a bound of 0 still lets pass what need not wait. */
    private void refuseBeyondBounds() {
        for (PermitWaiter<?> waiter : arrived) {
            Claim over = scheduler.overOwnBound(waiter.tenant());
            if (over != null) {
                takeOut(over, RefusalReason.TENANT_QUEUE_FULL);
            }
        }
        arrived.clear();
        int bound = settings.maxWaiting();
        for (Claim over = scheduler.overPoolBound(bound); over != null; over = scheduler.overPoolBound(bound)) {
            takeOut(over, RefusalReason.POOL_QUEUE_FULL);
        }
    }

    private void refuseAllWaiting() {
        for (Claim over = scheduler.overPoolBound(0); over != null; over = scheduler.overPoolBound(0)) {
            takeOut(over, RefusalReason.DRAINING);
        }
    }

    private void takeOut(Claim claim, RefusalReason reason) {
        scheduler.cancel(claim, now());
        refuse((PermitWaiter<?>) claim, reason);
    }

    private void refuse(PermitWaiter<?> waiter, RefusalReason reason) {
        if (waiter.refuse(reason)) {
            makeReady(waiter);
        }
    }

    private void makeReady(Claim claim) {
        PermitWaiter<?> waiter = (PermitWaiter<?>) claim;
        ready.offer(waiter::goHome);
    }

    // ---- the dispatch: hands waiters to their executors, outside the drain ----

    private void dispatch() {
        if (ready.isEmpty() || readyCount.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            runAll(ready);
            seen = readyCount.addAndGet(-seen);
        } while (seen != 0);
    }

    private static void runAll(Queue<Runnable> queue) {
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            guarded(next);
        }
    }

    /** What throws here is a bug and is reported as one; the others still run, and the loop stays alive. */
    private static void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            Operators.onErrorDropped(e, Context.empty());
        }
    }
}
