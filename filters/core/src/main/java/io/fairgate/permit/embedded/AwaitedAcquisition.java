package io.fairgate.permit.embedded;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Permits that a subscriber waits for, and then holds and releases itself: the {@link Waiter} is the handle. */
final class AwaitedAcquisition implements Acquisition, Subscription {

    private final CoreSubscriber<? super HeldPermits> actual;
    private final Waiter waiter;

    private volatile boolean requested;

    AwaitedAcquisition(EmbeddedPermitPool pool, PermitRequest request, CoreSubscriber<? super HeldPermits> actual) {
        this.actual = actual;
        this.waiter = new Waiter(pool, this, request, pool.now());
    }

    void ask(PermitRequest request) {
        actual.onSubscribe(this);
        waiter.ask(request);
    }

    /** With permits that are held already: it waits only for the drain. */
    void restore() {
        actual.onSubscribe(this);
        waiter.restore();
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    @Override
    public void begin(int from) {
        if (waiter.advance(from, State.OFFERED)) {
            waiter.boundHold();
            resumed();
        }
    }

    @Override
    public void resumed() {
        if (!waiter.isHoldOver) {
            handOver();
        } else if (waiter.move(State.OFFERED, State.DONE)) {
            waiter.giveBack();
            fail(waiter.holdExpired());
        } else if (waiter.isHeld()) {
            waiter.release();
        }
    }

    private void handOver() {
        if (requested && !waiter.hasComeTooLate() && waiter.move(State.OFFERED, State.RUNNING)) {
            waiter.reportGranted();
            actual.onNext(waiter);
            actual.onComplete();
        }
    }

    @Override
    public void fail(Throwable error) {
        actual.onError(error);
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            requested = true;
            if (waiter.state() == State.OFFERED) {
                waiter.resume();
            }
        }
    }

    /** Does nothing after the permits were handed over: then only the holder releases them. */
    @Override
    public void cancel() {
        var unused = waiter.cancel();
    }
}
