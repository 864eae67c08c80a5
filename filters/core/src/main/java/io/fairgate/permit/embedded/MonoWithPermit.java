package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** A {@link Mono} that holds permits from before its work is subscribed until it has ended. */
final class MonoWithPermit<T> extends Mono<T> {

    private final EmbeddedPermitPool pool;
    private final PermitRequest request;
    private final Mono<T> work;

    MonoWithPermit(EmbeddedPermitPool pool, PermitRequest request, Mono<T> work) {
        this.pool = pool;
        this.request = request;
        this.work = work;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        new Waiter<>(pool, request, work, actual).start();
    }

    /**
     * Keeps the element until the work has completed: an element that was passed on before could be followed by the error of
     * an expired hold, and the permits must not come back before the work has really ended.
     */
    private static final class Waiter<T> extends PermitWaiter<T> {
        @SuppressWarnings("rawtypes")
        private static final AtomicReferenceFieldUpdater<Waiter, Object> ELEMENT =
                AtomicReferenceFieldUpdater.newUpdater(Waiter.class, Object.class, "element");

        private volatile @Nullable Object element;

        Waiter(EmbeddedPermitPool pool, PermitRequest request, Mono<T> work, CoreSubscriber<? super T> actual) {
            super(pool, request, work, actual);
        }

        @Override
        public void onNext(T value) {
            element = value;
            if (!isRunning()) {
                discard();
            }
        }

        @Override
        public void onComplete() {
            if (complete()) {
                @SuppressWarnings("unchecked") // only onNext sets it
                T value = (T) element;
                if (value != null) {
                    actual.onNext(value);
                }
                actual.onComplete();
            }
        }

        @Override
        void discard() {
            Operators.onDiscard(ELEMENT.getAndSet(this, null), currentContext());
        }
    }
}
