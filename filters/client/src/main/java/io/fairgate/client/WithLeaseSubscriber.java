package io.fairgate.client;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One subscription to a work with a lease: the subscriber of the work and the subscription of the caller, with one state
 * that only moves by compare-and-set:
 *
 * <pre>
 *   ACQUIRING ──lease──▶ STARTING ──subscribed──▶ RUNNING ──complete, error, cancel, lost──▶ ENDED
 *       │                   │  └──complete, error──▶ ENDED
 *       │                   └──cancel, lost──▶ CANCELLING ──▶ ENDED
 *       └──error, cancel, lost──▶ ENDED
 * </pre>
 *
 * <p>STARTING lasts while the work is created and subscribed. A cancellation or a loss in that time goes through CANCELLING:
 * the lease is released when the work has been cancelled (ONLY_SUBSCRIBED until then) and the subscribing has returned
 * (ONLY_CANCELLED until then), whichever is later. A combination of operators, such as {@code usingWhen} around
 * {@code flatMap}, would release at once, while another thread still subscribes the work.
 *
 * <p>Only the thread that makes the step to ENDED releases, so it happens once.
 */
final class WithLeaseSubscriber<T> implements CoreSubscriber<T>, Subscription {

    private enum State {
        ACQUIRING,
        STARTING,
        RUNNING,
        CANCELLING,
        ONLY_CANCELLED,
        ONLY_SUBSCRIBED,
        ENDED
    }

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<WithLeaseSubscriber, @Nullable Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(WithLeaseSubscriber.class, Subscription.class, "upstream");

    @SuppressWarnings("rawtypes")
    private static final AtomicLongFieldUpdater<WithLeaseSubscriber> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(WithLeaseSubscriber.class, "requested");

    private final KeyedAcquisition acquisition;
    private final Function<Lease, ? extends Publisher<T>> work;
    private final CoreSubscriber<? super T> actual;
    private final Disposable.Swap acquiring = Disposables.swap();

    private final AtomicReference<State> state = new AtomicReference<>(State.ACQUIRING);
    private volatile @Nullable Subscription upstream;
    private volatile long requested;
    /** The caller has cancelled and gets no more signals. */
    private volatile boolean isCancelled;

    WithLeaseSubscriber(
            KeyedAcquisition acquisition,
            Function<Lease, ? extends Publisher<T>> work,
            CoreSubscriber<? super T> actual) {
        this.acquisition = acquisition;
        this.work = work;
        this.actual = actual;
    }

    void start() {
        actual.onSubscribe(this);
        if (state.get() == State.ACQUIRING) {
            acquiring.update(acquisition.lease().subscribe(this::acquired, this::notAcquired, null, currentContext()));
        }
    }

    private void notAcquired(Throwable error) {
        if (step(State.ACQUIRING, State.ENDED)) {
            end(error);
        }
    }

    /** A lease can be over before its timer has run. Then nothing is started, and the timer ends this subscription. */
    private void acquired(Lease lease) {
        var unused = lease.lost().subscribe(nothing -> {}, this::lost);
        if (lease.isHeld() && step(State.ACQUIRING, State.STARTING)) {
            try {
                work.apply(lease).subscribe(this);
                step(State.STARTING, State.RUNNING);
            } catch (RuntimeException | Error e) {
                Operators.terminate(UPSTREAM, this);
                onError(e);
            } finally {
                cancelledOrSubscribed(State.ONLY_SUBSCRIBED, State.ONLY_CANCELLED);
            }
        }
    }

    // ---- early ends ----

    @Override
    public void cancel() {
        isCancelled = true;
        if (step(State.ACQUIRING, State.ENDED)) {
            acquiring.dispose();
            release();
        } else {
            cancelWork();
        }
    }

    /** Signals the loss at once, also while the work is being subscribed: another holder is about to get the permits. */
    private void lost(Throwable loss) {
        if (step(State.ACQUIRING, State.ENDED) || cancelWork()) {
            end(loss);
        }
    }

    /** False when the work has ended or is being cancelled already. */
    private boolean cancelWork() {
        boolean isStarting = step(State.STARTING, State.CANCELLING);
        if (!isStarting && !step(State.RUNNING, State.ENDED)) {
            return false;
        }
        try {
            Operators.terminate(UPSTREAM, this);
        } catch (RuntimeException | Error e) {
            Operators.onErrorDropped(e, currentContext());
        } finally {
            if (isStarting) {
                cancelledOrSubscribed(State.ONLY_CANCELLED, State.ONLY_SUBSCRIBED);
            } else {
                release();
            }
        }
        return true;
    }

    /** One thread cancels the work and one subscribes it; the later of the two releases. */
    private void cancelledOrSubscribed(State onlyThis, State onlyTheOther) {
        if (!step(State.CANCELLING, onlyThis) && step(onlyTheOther, State.ENDED)) {
            release();
        }
    }

    private void release() {
        var unused = acquisition.release().subscribe();
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
        State now = state.get();
        if (now == State.STARTING || now == State.RUNNING) {
            actual.onNext(value);
        } else {
            Operators.onDiscard(value, currentContext());
        }
    }

    @Override
    public void onError(Throwable error) {
        if (step(State.STARTING, State.ENDED) || step(State.RUNNING, State.ENDED)) {
            releaseAndEnd(error);
        } else {
            Operators.onErrorDropped(error, currentContext());
        }
    }

    @Override
    public void onComplete() {
        if (step(State.STARTING, State.ENDED) || step(State.RUNNING, State.ENDED)) {
            releaseAndEnd(null);
        }
    }

    private void releaseAndEnd(@Nullable Throwable error) {
        var unused = acquisition.release().subscribe(nothing -> {}, this::end, () -> end(error));
    }

    private void end(@Nullable Throwable error) {
        if (isCancelled) {
            return;
        }
        if (error == null) {
            actual.onComplete();
        } else {
            actual.onError(error);
        }
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    // ---- demand of the caller ----

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

    private boolean step(State from, State to) {
        return state.compareAndSet(from, to);
    }
}
