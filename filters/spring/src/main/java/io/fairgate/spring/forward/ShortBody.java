package io.fairgate.spring.forward;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.netty.http.client.HttpClientResponse;
import reactor.util.context.Context;

/**
 * The short body of a response. If all of it has come when the event loop of the upstream's connection has read what there is, this emits a
 * {@link Mono} with it, which can be sent with the headers in one piece. If not, it emits a {@link Flux} of the parts as they come.
 *
 * <p>Headers and parts that are sent one by one take a call of the operating system each, and several changes of the thread.
 *
 * <p>What is emitted may be subscribed to once. The parts come on the event loop only.
 */
final class ShortBody extends Mono<Publisher<ByteBuf>> implements CoreSubscriber<ByteBuf>, Subscription, Runnable {

    /** In bytes. About what a connection to the upstream reads at once; it is kept whether or not the client reads. */
    static final int MOST = 16 * 1024;

    private static final AtomicReferenceFieldUpdater<ShortBody, @Nullable ByteBuf> GATHERED =
            AtomicReferenceFieldUpdater.newUpdater(ShortBody.class, ByteBuf.class, "gathered");

    private final Flux<ByteBuf> received;
    private final EventLoop loop;
    private @Nullable CoreSubscriber<? super Publisher<ByteBuf>> subscriber;

    /** Used on the event loop only. */
    private @Nullable Subscription subscription;

    private volatile @Nullable ByteBuf gathered;
    /** The parts one by one; null for a body that is whole, and before that is known. */
    private volatile Sinks.@Nullable Many<ByteBuf> parts;

    private volatile boolean isSubscribed;
    /** Nothing more is gathered. */
    private volatile boolean isDecided;

    /**
     * @param received the body, whose subscriber releases the parts
     * @param loop on which its parts come
     */
    ShortBody(Flux<ByteBuf> received, EventLoop loop) {
        this.received = received;
        this.loop = loop;
    }

    /** Whether a response has a short body, by its length. It must not have trailers. */
    static boolean isIn(HttpClientResponse response) {
        int status = response.status().code();
        if (response.method().equals(HttpMethod.HEAD)
                || response.responseHeaders().contains(HttpHeaderNames.TRANSFER_ENCODING)) {
            return false; // The length is not that of what comes.
        }
        if (status == HttpResponseStatus.NO_CONTENT.code() || status == HttpResponseStatus.NOT_MODIFIED.code()) {
            return false;
        }
        String length = response.responseHeaders().get(HttpHeaderNames.CONTENT_LENGTH);
        if (length == null || length.isEmpty() || length.length() > 5) {
            return false;
        }
        int bytes = 0;
        for (int i = 0; i < length.length(); i++) {
            int digit = length.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return false;
            }
            bytes = 10 * bytes + digit;
        }
        return bytes > 0 && bytes <= MOST;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Publisher<ByteBuf>> actual) {
        subscriber = actual;
        actual.onSubscribe(this);
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n)) {
            received.subscribe(this);
            later(this);
        }
    }

    @Override
    public void onSubscribe(Subscription begun) {
        if (Operators.validate(subscription, begun)) {
            subscription = begun;
            if (isDecided) {
                begun.cancel();
            } else {
                begun.request(Long.MAX_VALUE);
            }
        }
    }

    @Override
    public void onNext(ByteBuf part) {
        Sinks.Many<ByteBuf> to = parts;
        if (to != null) {
            if (to.tryEmitNext(part).isFailure()) {
                part.release();
            }
        } else if (isDecided) {
            part.release();
        } else {
            gather(part);
        }
    }

    private void gather(ByteBuf part) {
        ByteBuf before = gathered;
        if (before == null) {
            gathered = part;
        } else if (before instanceof CompositeByteBuf several) {
            several.addComponent(true, part);
        } else {
            gathered = part.alloc().compositeBuffer().addComponents(true, before, part);
        }
    }

    @Override
    public void onComplete() {
        Sinks.Many<ByteBuf> to = parts;
        if (to != null) {
            to.tryEmitComplete();
        } else if (!isDecided) {
            isDecided = true;
            emit(Mono.fromSupplier(this::take));
        }
    }

    @Override
    public void onError(Throwable failure) {
        Sinks.Many<ByteBuf> to = parts;
        if (to != null) {
            to.tryEmitError(failure);
        } else if (!isDecided) {
            discard();
            Objects.requireNonNull(subscriber).onError(failure);
        }
    }

    /** The event loop has read what had come. */
    @Override
    public void run() {
        if (!isDecided) {
            isDecided = true;
            Sinks.Many<ByteBuf> to = Sinks.many().unicast().onBackpressureBuffer();
            ByteBuf begun = take();
            if (begun != null) {
                to.emitNext(begun, Sinks.EmitFailureHandler.FAIL_FAST);
            }
            parts = to;
            emit(to.asFlux()
                    .doOnDiscard(ByteBuf.class, ByteBuf::release)
                    .doOnSubscribe(reader -> isSubscribed = true)
                    .doOnCancel(this::cancel));
        }
    }

    private void emit(Publisher<ByteBuf> body) {
        CoreSubscriber<? super Publisher<ByteBuf>> to = Objects.requireNonNull(subscriber);
        to.onNext(body);
        to.onComplete();
    }

    private @Nullable ByteBuf take() {
        return GATHERED.getAndSet(this, null);
    }

    @Override
    public void cancel() {
        onLoop(() -> {
            if (subscription != null) {
                subscription.cancel();
            }
            discard();
        });
    }

    /** The response is over. What has come of the body, and was emitted and not subscribed to, is released. */
    void end() {
        if (!isDecided || gathered != null || (parts != null && !isSubscribed)) {
            onLoop(this::discard);
        }
    }

    private void discard() {
        isDecided = true;
        ByteBuf unread = take();
        if (unread != null) {
            unread.release();
        }
        Sinks.Many<ByteBuf> to = parts;
        if (to != null && !isSubscribed) {
            to.asFlux().subscribe(ByteBuf::release, failure -> {});
        }
    }

    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else {
            later(task);
        }
    }

    private void later(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException shutDown) {
            // Its connections are closed then, which is an error of the body.
        }
    }

    @Override
    public Context currentContext() {
        return Objects.requireNonNull(subscriber).currentContext();
    }
}
