package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/** A {@link Flux} that holds permits from before its work is subscribed until its last element. */
final class FluxWithPermit<T> extends Flux<T> {

    private final EmbeddedPermitPool pool;
    private final PermitRequest request;
    private final Flux<T> work;

    FluxWithPermit(EmbeddedPermitPool pool, PermitRequest request, Flux<T> work) {
        this.pool = pool;
        this.request = request;
        this.work = work;
    }

    /** Serialized, because the hold may expire while an element is being emitted. */
    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        new Waiter<>(pool, request, work, Operators.serialize(actual)).start();
    }

    private static final class Waiter<T> extends PermitWaiter<T> {
        Waiter(EmbeddedPermitPool pool, PermitRequest request, Flux<T> work, CoreSubscriber<? super T> actual) {
            super(pool, request, work, actual);
        }

        @Override
        public void onNext(T value) {
            if (isRunning()) {
                actual.onNext(value);
            } else {
                Operators.onNextDropped(value, currentContext());
            }
        }

        @Override
        public void onComplete() {
            if (complete()) {
                actual.onComplete();
            }
        }
    }
}
