package io.fairgate.benchmarks;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Asks for everything, does nothing with it, and knows when it is complete. */
@State(Scope.Thread)
public class Listening implements CoreSubscriber<Object> {

    private volatile boolean completed;

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Object element) {}

    @Override
    public void onError(Throwable error) {
        throw new IllegalStateException("a benchmark of what goes well", error);
    }

    @Override
    public void onComplete() {
        completed = true;
    }

    /** Spins until it has been told, and can then be told again. */
    void awaitCompletion() {
        while (!completed) {
            Thread.onSpinWait();
        }
        completed = false;
    }
}
