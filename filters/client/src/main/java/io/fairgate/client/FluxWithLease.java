package io.fairgate.client;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/** A work that holds a lease, from before the work is created until it ends. */
final class FluxWithLease<T> extends Flux<T> {

    private final LeaseCalls calls;
    private final LeaseOptions options;
    private final Function<Lease, ? extends Publisher<T>> work;

    FluxWithLease(LeaseCalls calls, LeaseOptions options, Function<Lease, ? extends Publisher<T>> work) {
        this.calls = calls;
        this.options = options;
        this.work = work;
    }

    /** Serialized, because the loss of the lease may be signalled while an element is emitted. */
    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        new LeasedWork<>(new Claim(calls, options), work, Operators.serialize(actual)).start();
    }
}
