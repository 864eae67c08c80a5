package io.fairgate.testkit.odd;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One request to an {@link OddPool}. The request, its cancellation while it waits, and the answer take a tick each. While the
 * request waits, it fails when the connection is lost; once it runs, nothing but the server's answers and its own
 * cancellation matters. A work runs at the server, so its end reaches the pool at once, also while the connection is lost.
 */
final class OddRequest<T> extends Operators.DeferredSubscription implements CoreSubscriber<T> {

    private enum State {
        WAITING,
        RUNNING,
        /** The subscriber has cancelled, or has got its error. */
        OVER
    }

    private final PermitRequest request;
    private final CoreSubscriber<? super T> actual;
    private final Network network;
    private final Function<Throwable, RuntimeException> whenLost;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private final Runnable fail = this::fail;
    private volatile @Nullable Throwable rejected;

    OddRequest(
            PermitRequest request,
            CoreSubscriber<? super T> actual,
            Network network,
            Function<Throwable, RuntimeException> whenLost) {
        this.request = request;
        this.actual = actual;
        this.network = network;
        this.whenLost = whenLost;
    }

    /** The request as the server sees it: what it runs on the request's event loop arrives there a tick later. */
    PermitRequest atServer() {
        PermitRequest sent = request.withEventLoop(task -> network.send(() -> atHome(task)));
        Runnable onWaiting = request.onWaiting();
        return onWaiting == null ? sent : sent.withOnWaiting(() -> atHome(onWaiting));
    }

    void send(Publisher<T> call) {
        actual.onSubscribe(this);
        if (state.get() == State.WAITING) {
            network.ask(fail);
            network.send(() -> {
                if (network.isLost()) {
                    fail();
                }
                if (state.get() == State.WAITING) {
                    call.subscribe(this);
                }
            });
        }
    }

    /** Whether the work may start; called where it would be subscribed. */
    boolean begin() {
        return rejected == null && leave(State.RUNNING);
    }

    Mono<T> notBegun() {
        Throwable error = rejected;
        return error == null ? Mono.empty() : Mono.error(error);
    }

    private boolean leave(State next) {
        network.answered(fail);
        return state.compareAndSet(State.WAITING, next);
    }

    private void fail() {
        if (leave(State.OVER)) {
            network.deliver(super::cancel);
            atHome(() -> actual.onError(whenLost.apply(Network.cut())));
        }
    }

    private void atHome(Runnable task) {
        Executor eventLoop = request.eventLoop();
        if (eventLoop == null) {
            task.run();
            return;
        }
        try {
            eventLoop.execute(task);
        } catch (RuntimeException | Error e) {
            rejected = e;
            task.run();
        }
    }

    @Override
    public void cancel() {
        if (leave(State.OVER)) {
            network.deliver(super::cancel);
        } else if (state.getAndSet(State.OVER) == State.RUNNING) {
            super.cancel();
        }
    }

    // ---- signals of the server ----

    @Override
    public void onSubscribe(Subscription subscription) {
        set(subscription);
    }

    @Override
    public void onNext(T value) {
        if (leave(State.RUNNING) || state.get() == State.RUNNING) {
            actual.onNext(value);
        } else if (value instanceof HeldPermits held) {
            held.release();
        } else {
            Operators.onNextDropped(value, currentContext());
        }
    }

    @Override
    public void onError(Throwable error) {
        if (leave(State.OVER) || state.compareAndSet(State.RUNNING, State.OVER)) {
            actual.onError(error);
        }
    }

    @Override
    public void onComplete() {
        if (leave(State.OVER) || state.compareAndSet(State.RUNNING, State.OVER)) {
            actual.onComplete();
        }
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }
}
