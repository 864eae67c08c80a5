package io.fairgate.benchmarks;

import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** A subscriber that ignores all elements and waits for the completion. */
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
        throw new IllegalStateException("a benchmark expects no error", error);
    }

    @Override
    public void onComplete() {
        completed = true;
    }

    /** Spins until it is complete, and can then be used again. */
    void awaitCompletion() {
        while (!completed) {
            Thread.onSpinWait();
        }
        completed = false;
    }
}
