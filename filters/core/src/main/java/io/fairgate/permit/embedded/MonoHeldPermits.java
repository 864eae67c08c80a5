package io.fairgate.permit.embedded;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import java.util.function.Consumer;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** {@link PermitPool#acquire} and {@link PermitPool#restore} of an embedded pool. */
final class MonoHeldPermits extends Mono<HeldPermits> {

    private final Consumer<CoreSubscriber<? super HeldPermits>> start;

    /** @param start makes a claim for the subscriber, and starts it */
    MonoHeldPermits(Consumer<CoreSubscriber<? super HeldPermits>> start) {
        this.start = start;
    }

    @Override
    public void subscribe(CoreSubscriber<? super HeldPermits> actual) {
        start.accept(actual);
    }
}
