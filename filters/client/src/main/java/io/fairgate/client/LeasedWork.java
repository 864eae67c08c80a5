package io.fairgate.client;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
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
 * the lease is given back when the work has been cancelled (ONLY_SUBSCRIBED until then) and the subscribing has returned
 * (ONLY_CANCELLED until then), whichever is later. A combination of operators, such as {@code usingWhen} around
 * {@code flatMap}, would release at once, while another thread still subscribes the work.
 *
 * <p>Only the thread that makes the step to ENDED gives back, so it happens once.
 */
final class LeasedWork<T> implements CoreSubscriber<T>, Subscription {

    private static final int ACQUIRING = 0;
    private static final int STARTING = 1;
    private static final int RUNNING = 2;
    private static final int CANCELLING = 3;
    private static final int ONLY_CANCELLED = 4;
    private static final int ONLY_SUBSCRIBED = 5;
    private static final int ENDED = 6;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<LeasedWork> STATE =
            AtomicIntegerFieldUpdater.newUpdater(LeasedWork.class, "state");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<LeasedWork, @Nullable Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(LeasedWork.class, Subscription.class, "upstream");

    @SuppressWarnings("rawtypes")
    private static final AtomicLongFieldUpdater<LeasedWork> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(LeasedWork.class, "requested");

    private final Claim claim;
    private final Function<Lease, ? extends Publisher<T>> work;
    private final CoreSubscriber<? super T> actual;
    private final Acquisition acquisition = new Acquisition();

    private volatile int state = ACQUIRING;
    private volatile @Nullable Subscription upstream;
    private volatile long requested;
    /** The caller has cancelled and gets no more signals. */
    private volatile boolean isCancelled;

    LeasedWork(Claim claim, Function<Lease, ? extends Publisher<T>> work, CoreSubscriber<? super T> actual) {
        this.claim = claim;
        this.work = work;
        this.actual = actual;
    }

    void start() {
        actual.onSubscribe(this);
        if (state == ACQUIRING) {
            claim.acquire().subscribe(acquisition);
        }
    }

    private final class Acquisition extends BaseSubscriber<Lease> {

        @Override
        protected void hookOnNext(Lease lease) {
            acquired(lease);
        }

        @Override
        protected void hookOnError(Throwable error) {
            if (step(ACQUIRING, ENDED)) {
                giveBackAndEnd(error);
            }
        }

        @Override
        public Context currentContext() {
            return LeasedWork.this.currentContext();
        }
    }

    /** A lease can be over before its timer has run. Then nothing is started, and the timer ends this subscription. */
    private void acquired(Lease lease) {
        var unused = lease.lost().subscribe(nothing -> {}, this::lost);
        if (lease.isHeld() && step(ACQUIRING, STARTING)) {
            try {
                work.apply(lease).subscribe(this);
                step(STARTING, RUNNING);
            } catch (RuntimeException | Error e) {
                Operators.terminate(UPSTREAM, this);
                onError(e);
            } finally {
                cancelledOrSubscribed(ONLY_SUBSCRIBED, ONLY_CANCELLED);
            }
        }
    }

    // ---- early ends ----

    @Override
    public void cancel() {
        isCancelled = true;
        if (step(ACQUIRING, ENDED)) {
            acquisition.cancel();
            giveBack();
        } else {
            cancelWork();
        }
    }

    /** Signals the loss at once, also while the work is being subscribed: another holder is about to get the permits. */
    private void lost(Throwable loss) {
        if (step(ACQUIRING, ENDED) || cancelWork()) {
            tell(loss);
        }
    }

    /** False when the work has ended or is being cancelled already. */
    private boolean cancelWork() {
        boolean isStarting = step(STARTING, CANCELLING);
        if (!isStarting && !step(RUNNING, ENDED)) {
            return false;
        }
        try {
            Operators.terminate(UPSTREAM, this);
        } catch (RuntimeException | Error e) {
            Operators.onErrorDropped(e, currentContext());
        } finally {
            if (isStarting) {
                cancelledOrSubscribed(ONLY_CANCELLED, ONLY_SUBSCRIBED);
            } else {
                giveBack();
            }
        }
        return true;
    }

    /** One thread cancels the work and one subscribes it; the later of the two gives back. */
    private void cancelledOrSubscribed(int onlyThis, int onlyTheOther) {
        if (!step(CANCELLING, onlyThis) && step(onlyTheOther, ENDED)) {
            giveBack();
        }
    }

    private void giveBack() {
        var unused = claim.giveBack().subscribe();
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
        int now = state;
        if (now == STARTING || now == RUNNING) {
            actual.onNext(value);
        } else {
            Operators.onDiscard(value, currentContext());
        }
    }

    @Override
    public void onError(Throwable error) {
        if (step(STARTING, ENDED) || step(RUNNING, ENDED)) {
            giveBackAndEnd(error);
        } else {
            Operators.onErrorDropped(error, currentContext());
        }
    }

    @Override
    public void onComplete() {
        if (step(STARTING, ENDED) || step(RUNNING, ENDED)) {
            giveBackAndEnd(null);
        }
    }

    private void giveBackAndEnd(@Nullable Throwable error) {
        var unused = claim.giveBack().subscribe(nothing -> {}, this::tell, () -> tell(error));
    }

    private void tell(@Nullable Throwable error) {
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

    private boolean step(int from, int to) {
        return STATE.compareAndSet(this, from, to);
    }
}
