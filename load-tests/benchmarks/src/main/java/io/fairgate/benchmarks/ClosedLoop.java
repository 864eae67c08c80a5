package io.fairgate.benchmarks;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Requests that are in flight until the benchmark ends them, each of which is followed by the next of its tenant. */
abstract class ClosedLoop {

    static final ClosedLoop NONE = new ClosedLoop() {
        @Override
        void ask(int tenant) {}
    };

    private final Queue<Runnable> inFlight = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Throwable failure;

    /** Asks for a permit; when it is granted, {@link #granted} is to be called. */
    abstract void ask(int tenant);

    final void granted(Runnable end) {
        inFlight.add(end);
    }

    /** A loop that loses its requests would wait for ever. */
    final void failed(Throwable error) {
        failure = error;
    }

    final void endSome(int number) {
        for (int i = 0; i < number; i++) {
            endOne();
        }
    }

    /** Ends the one that is longest in flight. With several threads all may be ending elsewhere just now. */
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

    /** Hears what becomes of one request of a tenant. */
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
