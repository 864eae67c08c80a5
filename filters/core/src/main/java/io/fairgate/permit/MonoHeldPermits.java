package io.fairgate.permit;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** {@link PermitPool#acquire} of an embedded pool. */
final class MonoHeldPermits extends Mono<HeldPermits> {

    private final EmbeddedPermitPool pool;
    private final PermitRequest request;

    MonoHeldPermits(EmbeddedPermitPool pool, PermitRequest request) {
        this.pool = pool;
        this.request = request;
    }

    @Override
    public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
        new AwaitedClaim(pool, request, actual).start(request);
    }
}
