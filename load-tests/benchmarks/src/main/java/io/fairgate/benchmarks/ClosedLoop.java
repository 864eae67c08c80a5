package io.fairgate.benchmarks;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Requests that are in flight until the benchmark ends them. After each, its tenant sends the next. */
abstract class ClosedLoop {

    static final ClosedLoop NONE = new ClosedLoop() {
        @Override
        void ask(int tenant) {}
    };

    private final Queue<Runnable> inFlight = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Throwable failure;

    /** Asks for a permit, and calls {@link #granted} when it is granted. */
    abstract void ask(int tenant);

    final void granted(Runnable end) {
        inFlight.add(end);
    }

    /** Ends the benchmark: a loop that has lost requests would wait for ever. */
    final void failed(Throwable error) {
        failure = error;
    }

    final void endSome(int number) {
        for (int i = 0; i < number; i++) {
            endOne();
        }
    }

    /** Ends the oldest request in flight. It waits while the other threads are ending all of them. */
    private void endOne() {
        Runnable end = inFlight.poll();
        while (end == null) {
            if (failure != null) {
                throw new IllegalStateException("a request that should have been granted was not", failure);
            }
            Thread.onSpinWait();
            end = inFlight.poll();
        }
        end.run();
    }

    /** The subscriber of one request. */
    abstract class Asking<T> implements CoreSubscriber<T> {

        final int tenant;

        Asking(int tenant) {
            this.tenant = tenant;
        }

        @Override
        public final void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public final void onError(Throwable error) {
            failed(error);
        }
    }
}
