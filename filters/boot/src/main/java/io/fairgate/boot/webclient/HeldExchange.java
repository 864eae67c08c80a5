package io.fairgate.boot.webclient;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.client.ClientResponse;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Scannable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * One exchange. For the pool, its work begins with the request and completes with the end of the body; for the caller, it emits in between,
 * with the head of the response. So the work is subscribed to apart from the response.
 */
final class HeldExchange extends BaseSubscriber<ClientResponse> {

    private final PermitPool pool;
    private final PermitRequest permits;
    private final Mono<ClientResponse> exchange;

    private final Disposable.Swap hold = Disposables.swap();
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final Sinks.Empty<Void> over = Sinks.empty();
    private final Sinks.One<ClientResponse> head = Sinks.one();
    private final AtomicReference<@Nullable ClientResponse> unread = new AtomicReference<>();

    private volatile @Nullable Throwable failure;
    private volatile boolean hasResponse;
    private volatile boolean isRead;
    private volatile Context context = Context.empty();

    private HeldExchange(PermitPool pool, PermitRequest permits, Mono<ClientResponse> exchange) {
        this.pool = pool;
        this.permits = permits;
        this.exchange = exchange;
    }

    /** The response of an exchange that begins when the pool grants the permits. */
    static Mono<ClientResponse> of(PermitPool pool, PermitRequest permits, Mono<ClientResponse> exchange) {
        return Mono.deferContextual(context -> {
            HeldExchange held = new HeldExchange(pool, permits, exchange);
            return held.head
                    .asMono()
                    .doOnSubscribe(subscribed -> held.begin(Context.of(context)))
                    .doOnCancel(held::left);
        });
    }

    private void begin(Context ofCaller) {
        context = ofCaller;
        Mono<Void> work = Mono.defer(() -> {
            exchange.subscribe(this);
            return end.asMono().doOnCancel(this::stop);
        });
        hold.update(pool.withPermit(permits, work).subscribe(nothing -> {}, this::failed, () -> {}, context));
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    protected void hookOnNext(ClientResponse response) {
        hasResponse = true;
        unread.set(response);
        head.tryEmitValue(response.mutate().body(this::held).build());
        if (hold.isDisposed() || failure != null) {
            stop(); // The exchange was cancelled, and this response came nevertheless.
        }
    }

    /** The body. Its first reader ends the hold; every other one gets an error from WebClient. */
    private Flux<DataBuffer> held(Flux<DataBuffer> body) {
        return Flux.defer(() -> {
            if (unread.getAndSet(null) != null) {
                isRead = true;
                return untilOver(body).doOnTerminate(end::tryEmitEmpty).doOnCancel(end::tryEmitEmpty);
            }
            Throwable why = failure;
            return isRead || why == null ? body : Flux.error(why);
        });
    }

    /**
     * The body, which errors when the pool takes its permits back. {@code takeUntilOther} cancels the body when the other source
     * completes, but not when it errors.
     */
    private Flux<DataBuffer> untilOver(Flux<DataBuffer> body) {
        return body.takeUntilOther(over.asMono()).concatWith(Mono.defer(() -> {
            Throwable why = failure;
            return why == null ? Mono.empty() : Mono.error(why);
        }));
    }

    @Override
    protected void hookOnError(Throwable why) {
        failed(why);
    }

    /** The exchange has failed, or the pool has refused it, or has taken its permits back. */
    private void failed(Throwable why) {
        failure = why;
        end.tryEmitEmpty();
        over.tryEmitEmpty();
        head.tryEmitError(why);
    }

    /** After the response, only the end of its body ends the hold. */
    @Override
    protected void hookOnComplete() {
        if (head.scanOrDefault(Scannable.Attr.TERMINATED, false)) {
            return;
        }
        end.tryEmitEmpty();
        head.tryEmitEmpty();
    }

    /** The caller has cancelled; a response whose body it reads it still has. */
    private void left() {
        if (unread.get() != null || !head.scanOrDefault(Scannable.Attr.TERMINATED, false)) {
            hold.dispose();
        }
    }

    /**
     * Closes the connection of a response that is not read, or cancels an exchange without a response. Not both: WebClient's connector
     * would read the body to its end when the exchange is cancelled.
     */
    private void stop() {
        ClientResponse response = unread.getAndSet(null);
        if (response != null) {
            response.body(BodyExtractors.toDataBuffers())
                    .subscribe(DataBufferUtils::release, ignored -> {})
                    .dispose();
        } else if (!hasResponse) {
            cancel();
        }
    }
}
