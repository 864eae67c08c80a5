package io.fairgate.permit;

import io.fairgate.tenant.TenantId;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;

/** {@link PermitPool#acquire}: a work that emits the handle when it starts, and lasts until that is released. */
final class MonoHeldPermits extends Mono<HeldPermits> {

    private final PermitPool pool;
    private final PermitRequest request;

    MonoHeldPermits(PermitPool pool, PermitRequest request) {
        this.pool = pool;
        this.request = request;
    }

    @Override
    public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
        Acquisition acquisition = new Acquisition(request, actual);
        actual.onSubscribe(acquisition);
        acquisition.ask(pool);
    }

    /**
     * One subscription, and the handle.
     *
     * <pre>
     *   ASKING ──requested──▶ WANTED ──granted──▶ HELD ──released, or held for too long──▶ OVER
     *      └──granted──▶ GRANTED ──requested──▶ HELD
     *   ASKING, WANTED, GRANTED ──cancelled, refused, or held for too long──▶ OVER
     * </pre>
     */
    private static final class Acquisition implements Subscription, HeldPermits {

        private static final int ASKING = 0;
        private static final int WANTED = 1;
        private static final int GRANTED = 2;
        private static final int HELD = 3;
        private static final int OVER = 4;

        private static final AtomicIntegerFieldUpdater<Acquisition> STATE =
                AtomicIntegerFieldUpdater.newUpdater(Acquisition.class, "state");

        private final PermitRequest request;
        private final CoreSubscriber<? super HeldPermits> actual;
        private final Sinks.Empty<Void> release = Sinks.empty();
        private final Disposable.Swap asking = Disposables.swap();
        private volatile int state;

        Acquisition(PermitRequest request, CoreSubscriber<? super HeldPermits> actual) {
            this.request = request;
            this.actual = actual;
        }

        void ask(PermitPool pool) {
            if (state != OVER) {
                Mono<Void> hold = Mono.defer(() -> {
                    handOver();
                    return release.asMono();
                });
                asking.update(pool.withPermit(request, hold)
                        .contextWrite(actual.currentContext())
                        .subscribe(nothing -> {}, this::end));
            }
        }

        private void handOver() {
            if (STATE.compareAndSet(this, ASKING, GRANTED)) {
                return;
            }
            if (STATE.compareAndSet(this, WANTED, HELD)) {
                emit();
            } else {
                release.tryEmitEmpty();
            }
        }

        private void emit() {
            actual.onNext(this);
            actual.onComplete();
        }

        /** Refused; or taken back, which its holder can see. */
        private void end(Throwable error) {
            if (STATE.getAndSet(this, OVER) < HELD) {
                actual.onError(error);
            }
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n)
                    && !STATE.compareAndSet(this, ASKING, WANTED)
                    && STATE.compareAndSet(this, GRANTED, HELD)) {
                emit();
            }
        }

        /** What has been handed over is its holder's. */
        @Override
        public void cancel() {
            if (STATE.compareAndSet(this, ASKING, OVER) || STATE.compareAndSet(this, WANTED, OVER)) {
                asking.dispose();
            } else if (STATE.compareAndSet(this, GRANTED, OVER)) {
                release.tryEmitEmpty();
            }
        }

        @Override
        public TenantId tenant() {
            return request.tenant();
        }

        @Override
        public int permits() {
            return request.permits();
        }

        @Override
        public boolean isHeld() {
            return state == HELD;
        }

        @Override
        public void release() {
            if (STATE.compareAndSet(this, HELD, OVER)) {
                release.tryEmitEmpty();
            }
        }
    }
}
