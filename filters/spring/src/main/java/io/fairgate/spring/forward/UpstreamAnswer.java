package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.Carried;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.netty.Connection;
import reactor.util.context.Context;

/**
 * Waits for the headers of a response: completes with them, or errors with {@link TimeoutException} when they have not
 * come in time. The time begins again with each part of the request that is sent, so it bounds what the upstream needs and not
 * how long an upload takes. One subscriber for what {@code then}, {@code timeout} and {@code contextWrite} would do in three, and
 * without a timer for each request.
 */
final class UpstreamAnswer implements CoreSubscriber<Void>, Subscription {

    private static final AtomicIntegerFieldUpdater<UpstreamAnswer> OVER =
            AtomicIntegerFieldUpdater.newUpdater(UpstreamAnswer.class, "over");

    private final CoreSubscriber<? super Void> subscriber;
    private final Connection client;
    private final long mostNanos;
    private final Context context;

    @SuppressWarnings("UnusedVariable") // Its updater uses it.
    private volatile int over;

    private volatile @Nullable Subscription exchange;
    private volatile @Nullable ResponseDeadline deadline;

    /** What the exchange finds in its context. */
    interface Call {
        /** Called before the exchange begins. */
        void awaits(UpstreamAnswer answer);
    }

    private UpstreamAnswer(CoreSubscriber<? super Void> subscriber, Connection client, long mostNanos, Call call) {
        this.subscriber = subscriber;
        this.client = client;
        this.mostNanos = mostNanos;
        this.context = Carried.with(subscriber.currentContext(), call);
    }

    /**
     * The headers of the response to one request.
     *
     * @param mostNanos how long it may take from the latest part of the request, or, before the first one, from the beginning, the time
     *     until there is a connection included; 0 for any time
     */
    static Mono<Void> to(Publisher<Void> exchange, Connection client, long mostNanos, Call call) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Void> subscriber) {
                UpstreamAnswer answer = new UpstreamAnswer(subscriber, client, mostNanos, call);
                call.awaits(answer);
                exchange.subscribe(answer);
            }
        };
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.validate(exchange, subscription)) {
            exchange = subscription;
            if (mostNanos > 0) {
                ResponseDeadline.set(client.channel(), this, mostNanos);
            }
            subscriber.onSubscribe(this);
        }
    }

    @Override
    public void request(long n) {
        Subscription asked = exchange;
        if (Operators.validate(n) && asked != null) {
            asked.request(Long.MAX_VALUE);
        }
    }

    /** A part of the request is being sent. */
    void begunAgain() {
        if (mostNanos > 0 && !isOver()) {
            ResponseDeadline.set(client.channel(), this, mostNanos);
        }
    }

    void awaitedBy(ResponseDeadline deadline) {
        this.deadline = deadline;
    }

    boolean isOver() {
        return over != 0;
    }

    /** Only the caller that gets true may signal the end. The deadline forgets it before, for the client's next request. */
    private boolean end() {
        if (OVER.getAndSet(this, 1) != 0) {
            return false;
        }
        ResponseDeadline set = deadline;
        if (set != null) {
            set.forget(this);
        }
        return true;
    }

    void timeOut() {
        if (end()) {
            abandon();
            subscriber.onError(new TimeoutException());
        }
    }

    @Override
    public void cancel() {
        if (end()) {
            abandon();
        }
    }

    private void abandon() {
        Subscription abandoned = exchange;
        if (abandoned != null) {
            abandoned.cancel();
        }
    }

    @Override
    public void onNext(Void nothing) {}

    @Override
    public void onComplete() {
        if (end()) {
            subscriber.onComplete();
        }
    }

    @Override
    public void onError(Throwable failure) {
        if (end()) {
            subscriber.onError(failure);
        } else {
            Operators.onErrorDropped(failure, context);
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }
}
