package io.fairgate.permit;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** {@link PermitPool#acquire} and {@link PermitPool#restore} of an embedded pool. */
final class MonoHeldPermits extends Mono<HeldPermits> {

    private final EmbeddedPermitPool pool;
    private final PermitRequest request;
    private final boolean isHeldAlready;

    MonoHeldPermits(EmbeddedPermitPool pool, PermitRequest request, boolean isHeldAlready) {
        this.pool = pool;
        this.request = request;
        this.isHeldAlready = isHeldAlready;
    }

    @Override
    public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
        AwaitedClaim claim = new AwaitedClaim(pool, request, actual);
        if (isHeldAlready) {
            claim.startRestored();
        } else {
            claim.start(request);
        }
    }
}
