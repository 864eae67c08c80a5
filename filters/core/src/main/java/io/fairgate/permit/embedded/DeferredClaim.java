package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * A claim that stands in for the subscription of its work until the work provides it: passes on the demand that was
 * requested before, or a cancellation. Like Reactor's {@code Operators.DeferredSubscription}, which would be one more object
 * for each request.
 */
abstract class DeferredClaim extends TimedClaim implements Subscription {

    private static final AtomicReferenceFieldUpdater<DeferredClaim, @Nullable Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(DeferredClaim.class, Subscription.class, "upstream");
    private static final AtomicLongFieldUpdater<DeferredClaim> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(DeferredClaim.class, "requested");

    private volatile @Nullable Subscription upstream;
    private volatile long requested;

    DeferredClaim(PermitRequest request) {
        super(request);
    }

    public final void onSubscribe(Subscription subscription) {
        if (Operators.setOnce(UPSTREAM, this, subscription)) {
            passOnRequested(subscription);
        }
    }

    @Override
    public final void request(long n) {
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

    /** Cancels the work, at once or as soon as it provides its subscription. */
    final void cancelUpstream() {
        Operators.terminate(UPSTREAM, this);
    }
}
