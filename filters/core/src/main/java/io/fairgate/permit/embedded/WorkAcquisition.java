package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Permits that are held around a work, from before its subscription until it has ended: the subscriber of the work and the
 * subscription of the caller, which keeps demand and cancellation until the work provides a subscription of its own.
 *
 * <p>The element of a {@link Mono} is kept until the work has completed: an element that was passed on before could be
 * followed by the error of an expired hold, and the permits must not come back before the work has really ended.
 */
@SuppressWarnings("rawtypes") // The updaters have no type arguments.
final class WorkAcquisition<T> implements Acquisition, CoreSubscriber<T>, Subscription {

    private static final AtomicReferenceFieldUpdater<WorkAcquisition, @Nullable Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(WorkAcquisition.class, Subscription.class, "upstream");
    private static final AtomicReferenceFieldUpdater<WorkAcquisition, @Nullable Object> ELEMENT =
            AtomicReferenceFieldUpdater.newUpdater(WorkAcquisition.class, Object.class, "element");
    private static final AtomicLongFieldUpdater<WorkAcquisition> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(WorkAcquisition.class, "requested");

    private final EmbeddedPermitPool pool;
    private final PermitRequest request;
    private final Publisher<T> work;
    private final CoreSubscriber<? super T> actual;
    private final boolean keepsElement;
    private final Waiter waiter;

    private volatile @Nullable Subscription upstream;
    private volatile long requested;
    private volatile @Nullable Object element;
    /** Whether the subscriber has cancelled: it gets no error signal any more. */
    private volatile boolean cancelled;

    WorkAcquisition(
            EmbeddedPermitPool pool, PermitRequest request, Publisher<T> work, CoreSubscriber<? super T> actual) {
        this.pool = pool;
        this.request = request;
        this.work = work;
        this.actual = actual;
        this.keepsElement = work instanceof Mono;
        this.waiter = new Waiter(pool, this, request, request.eventLoop() == null ? pool.timeOfTaking() : pool.now());
    }

    void ask() {
        actual.onSubscribe(this);
        waiter.ask(request);
    }

    // ---- the hold ----

    @Override
    public void begin(int from) {
        if (waiter.advance(from, State.STARTING)) {
            waiter.reportGranted();
            try {
                work.subscribe(this);
            } catch (RuntimeException | Error e) {
                cancelUpstream();
                onError(e);
            } finally {
                if (waiter.move(State.STARTING, State.RUNNING)) {
                    waiter.boundHold();
                } else {
                    cancelledStep();
                }
            }
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        if (!waiter.cancel()) {
            if (waiter.move(State.STARTING, State.CANCELLED_STARTING)) {
                cancelUpstream();
                cancelledStep();
            } else if (waiter.move(State.RUNNING, State.QUIESCING)) {
                cancelUpstream();
                quiesce();
            }
        }
    }

    /** One of the two steps of a cancellation while the work is being subscribed; the second one goes on. */
    private void cancelledStep() {
        if (!waiter.move(State.CANCELLED_STARTING, State.HALF_CANCELLED)
                && waiter.move(State.HALF_CANCELLED, State.QUIESCING)) {
            quiesce();
        }
    }

    @Override
    public void resumed() {
        if (waiter.isHoldOver && waiter.move(State.RUNNING, State.QUIESCING)) {
            cancelUpstream();
            quiesce();
            fail(waiter.holdExpired());
        }
    }

    private void cancelUpstream() {
        Guard.run(() -> Operators.terminate(UPSTREAM, this));
    }

    /** Discards an element that was kept for a subscriber that will not get it. */
    private void discard() {
        Operators.onDiscard(ELEMENT.getAndSet(this, null), currentContext());
    }

    /** Gives the permits back when a work that was cancelled or has failed has really ended. */
    private void quiesce() {
        discard();
        Mono<Void> quiesced = request.quiesced();
        if (quiesced == null) {
            quiesced(Disposables.disposed());
        } else {
            Disposable.Composite waits = Disposables.composite();
            Runnable done = () -> quiesced(waits);
            waits.add(atTheLatest(done));
            waits.add(quiesced.subscribe(nothing -> {}, e -> done.run(), done));
        }
    }

    private void quiesced(Disposable waits) {
        if (waiter.move(State.QUIESCING, State.DONE)) {
            waits.dispose();
            waiter.giveBack();
            waiter.reportReleased();
        }
    }

    /** Bounds the quiescing. Prefers a timer of the event loop: tasks that end the work are before it in the loop's queue. */
    private Disposable atTheLatest(Runnable quiesced) {
        long nanos = Objects.requireNonNullElse(request.quiesceWithin(), PermitRequest.QUIESCE_WITHIN)
                .toNanos();
        if (request.eventLoop() instanceof ScheduledExecutorService loop) {
            try {
                Future<?> timer = loop.schedule(quiesced, nanos, TimeUnit.NANOSECONDS);
                return () -> timer.cancel(false);
            } catch (RejectedExecutionException shutDown) {
                // Use the pool's timers instead.
            }
        }
        try {
            return pool.time.schedule(quiesced, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException shutDown) {
            // Without a timer, only the work's own end gives the permits back.
            return Disposables.disposed();
        }
    }

    @Override
    public void fail(Throwable error) {
        if (!cancelled) {
            actual.onError(error);
        }
    }

    // ---- signals of the work ----

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.setOnce(UPSTREAM, this, subscription)) {
            passOnRequested(subscription);
        }
    }

    @Override
    public void onNext(T value) {
        if (keepsElement) {
            element = value;
            if (!isAtWork()) {
                discard();
            }
        } else if (isAtWork()) {
            actual.onNext(value);
        } else {
            Operators.onNextDropped(value, currentContext());
        }
    }

    private boolean isAtWork() {
        return waiter.state() == State.STARTING || waiter.state() == State.RUNNING;
    }

    /** Ends the work; true only for the one signal that does. */
    private boolean end(int next) {
        return waiter.move(State.STARTING, next) || waiter.move(State.RUNNING, next);
    }

    /** The permits come back before the signal is passed on. */
    @Override
    public void onComplete() {
        if (end(State.DONE)) {
            waiter.giveBack();
            waiter.reportReleased();
            @SuppressWarnings("unchecked") // only onNext sets it
            T value = (T) element;
            if (value != null) {
                actual.onNext(value);
            }
            actual.onComplete();
        }
    }

    @Override
    public void onError(Throwable error) {
        if (end(State.QUIESCING)) {
            quiesce();
            actual.onError(error);
        } else {
            Operators.onErrorDropped(error, currentContext());
        }
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    // ---- demand ----

    @Override
    public void request(long n) {
        Subscription known = upstream;
        if (known != null) {
            known.request(n);
        } else if (Operators.validate(n)) {
            Operators.addCap(REQUESTED, this, n);
            known = upstream;
            if (known != null) {
                passOnRequested(known);
            }
        }
    }

    private void passOnRequested(Subscription subscription) {
        long n = requested == 0 ? 0 : REQUESTED.getAndSet(this, 0);
        if (n != 0) {
            subscription.request(n);
        }
    }
}
