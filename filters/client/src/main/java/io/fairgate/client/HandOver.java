package io.fairgate.client;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Emits the lease, and gives it back when the subscription is cancelled, at any time after the emission. An operator that
 * drops an element on cancellation (reactor-core issue 3695) also cancels its source, so no lease is lost.
 */
final class HandOver extends Mono<Lease> {

    private final LeaseCalls calls;
    private final LeaseOptions options;

    HandOver(LeaseCalls calls, LeaseOptions options) {
        this.calls = calls;
        this.options = options;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Lease> actual) {
        Claim claim = new Claim(calls, options);
        claim.acquire().onErrorResume(e -> claim.giveBack().then(Mono.error(e))).subscribe(new Receiver(claim, actual));
    }

    private static final class Receiver implements CoreSubscriber<Lease>, Subscription {

        private final Claim claim;
        private final CoreSubscriber<? super Lease> actual;
        private final AtomicBoolean isCancelled = new AtomicBoolean();
        private @Nullable Subscription asking;

        Receiver(Claim claim, CoreSubscriber<? super Lease> actual) {
            this.claim = claim;
            this.actual = actual;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            if (Operators.validate(asking, subscription)) {
                asking = subscription;
                actual.onSubscribe(this);
            }
        }

        @Override
        public void request(long n) {
            if (asking != null) {
                asking.request(n);
            }
        }

        @Override
        public void cancel() {
            if (asking != null && isCancelled.compareAndSet(false, true)) {
                asking.cancel();
                var unused = claim.giveBack().subscribe();
            }
        }

        @Override
        public void onNext(Lease lease) {
            actual.onNext(lease);
        }

        @Override
        public void onError(Throwable error) {
            actual.onError(error);
        }

        @Override
        public void onComplete() {
            actual.onComplete();
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }
    }
}
