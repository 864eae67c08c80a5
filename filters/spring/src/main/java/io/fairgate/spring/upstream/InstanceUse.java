package io.fairgate.spring.upstream;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.upstream.Balancer;
import io.fairgate.upstream.Outcome;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.core.io.buffer.DataBuffer;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.netty.Connection;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.http.client.HttpClientResponse;

/**
 * One attempt to send a request to an instance. It counts as in flight there from the choice of the instance until the whole
 * response has come or the connection is closed, as its permit is held.
 */
public final class InstanceUse {

    /** Reports each request of the gateway's HTTP client to its {@code InstanceUse}. */
    static final HttpClientCustomizer NOTED = InstanceUse::note;

    /** How the HTTP client says that a pooled connection was closed before it was used. */
    private static final String BEFORE_SENDING = AbortedException.beforeSend().getMessage();

    /** How long an instance may be silent after a client has left. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final LiveUpstream upstream;
    private final Balancer.Use<InstanceAddress> use;
    private final ChannelFutureListener whenClosed = closed -> closed(closed.channel());
    private volatile @Nullable Channel channel;
    private volatile @Nullable String host;
    private volatile boolean isAnswered;
    private volatile boolean isLeft;
    private volatile boolean isOver;
    private volatile boolean hasBodyFailed;
    private volatile boolean isBodyWhole = true;
    private volatile Disposable patience = Disposables.disposed();

    InstanceUse(LiveUpstream upstream, Balancer.Use<InstanceAddress> use) {
        this.upstream = upstream;
        this.use = use;
    }

    /** The instance that was chosen. */
    public InstanceAddress instance() {
        return use.instance();
    }

    /** The value for {@code Host}, where the URI of the request has the address in the place of the name. */
    void setHost(String host) {
        this.host = host;
    }

    // ---- events of the HTTP client ----

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> report(request, (use, sent) -> use.send(sent, connection)))
                .doOnResponse((response, connection) -> report(response, InstanceUse::answered))
                .doAfterResponseSuccess((response, connection) -> report(response, (use, read) -> use.complete()));
    }

    private static <T extends HttpClientInfos> void report(T exchange, BiConsumer<InstanceUse, T> event) {
        InstanceUse use = Carried.find(exchange.currentContextView(), InstanceUse.class);
        if (use != null) {
            event.accept(use, exchange);
        }
    }

    private void send(HttpClientRequest request, Connection connection) {
        String own = host;
        if (own != null) {
            request.requestHeaders().set(HttpHeaderNames.HOST, own);
        }
        Channel on = connection.channel();
        channel = on;
        if (isOver) { // The HTTP client tries once more when a pooled connection was closed before it was used.
            isOver = false;
            upstream.resume(use);
        }
        on.closeFuture().addListener(whenClosed);
    }

    private void answered(HttpClientResponse response) {
        isAnswered = true;
        patience.dispose();
        int status = response.status().code();
        upstream.report(use, isErrorOfGateway(status) ? Outcome.FAILED : Outcome.ANSWERED, "status " + status);
    }

    /** The statuses of an instance that cannot do its work. A 500 may be the fault of one request. */
    private static boolean isErrorOfGateway(int status) {
        return status >= 502 && status <= 504;
    }

    private void complete() {
        Channel on = channel;
        if (on != null) {
            on.closeFuture().removeListener(whenClosed);
        }
        over();
    }

    private void closed(Channel closed) {
        if (closed != channel) {
            return;
        }
        over();
        if (isLeft) {
            reportLeft();
        }
    }

    private void over() {
        isOver = true;
        upstream.end(use);
    }

    private void reportLeft() {
        patience.dispose();
        upstream.report(use, isBodyWhole ? Outcome.LEFT : Outcome.NONE, "no answer to a request whose client has left");
    }

    // ---- events of the request ----

    /** The body of the request; its failures are those of the client. */
    public Flux<DataBuffer> body(Flux<DataBuffer> received) {
        return received.doOnSubscribe(begun -> isBodyWhole = false)
                .doOnComplete(() -> {
                    isBodyWhole = true;
                    upstream.sent(use);
                })
                .doOnError(failure -> hasBodyFailed = true);
    }

    /** Whether the client has broken off the body, which fails the attempt. */
    boolean hasBodyFailed() {
        return hasBodyFailed;
    }

    /** @param isOfClient whether the client may have caused the failure */
    void failed(Throwable failure, boolean isOfClient) {
        Outcome outcome = isOfClient ? Outcome.NONE : Failures.outcome(failure, channel != null);
        upstream.report(use, outcome, String.valueOf(failure));
        unlessSent();
    }

    /**
     * The client has left, or a filter no longer waits for the answer. The upstream may still work on the request, and its connection may
     * stay open for long, so silence is noted before that ends. Either this sees the end, or the end sees this.
     */
    void left() {
        isLeft = true;
        unlessSent();
        if (isOver) {
            reportLeft();
        } else if (!isAnswered) {
            patience = upstream.after(PATIENCE, this::reportLeft);
        }
    }

    /** When nothing was sent, no connection ends the attempt. */
    private void unlessSent() {
        if (channel == null) {
            over();
        }
    }

    /** Whether the instance cannot have begun to work on the request. */
    boolean isUnsent(Throwable failure) {
        return channel == null || (failure instanceof AbortedException && BEFORE_SENDING.equals(failure.getMessage()));
    }

    boolean isAnswered() {
        return isAnswered;
    }
}
