package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.exchange.Carried;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.ReferenceCounted;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.TcpServer;

/** An exchange that ends between the arrival of its response and the reading of the body. */
class UpstreamConnectionTest {

    private static final String BODY = "x".repeat(1000);

    private final Queue<ReferenceCounted> received = new ConcurrentLinkedQueue<>();
    private final ConnectionProvider connections = ConnectionProvider.create("test", 1);
    private @Nullable DisposableServer server;

    @AfterEach
    void stop() {
        connections.dispose();
        if (server != null) {
            server.disposeNow(Duration.ofSeconds(30));
        }
    }

    @ParameterizedTest(name = "the whole response has come: {0}")
    @ValueSource(booleans = {true, false})
    void an_unread_response_is_released(boolean whole) {
        DisposableServer upstream = answerOnce(whole);
        UpstreamConnection exchange = exchange();
        Disposable client = answered(upstream, exchange);
        try {
            exchange.quiesced().block(Duration.ofSeconds(20));

            awaitReleased();
        } finally {
            client.dispose();
        }
    }

    /** As for an attempt that times out when its response arrives, and is then repeated. */
    @ParameterizedTest(name = "the whole response has come: {0}")
    @ValueSource(booleans = {true, false})
    void an_earlier_response_is_released_when_the_request_is_sent_again(boolean whole) {
        DisposableServer upstream = answerOnce(whole);
        UpstreamConnection exchange = exchange();
        answered(upstream, exchange).dispose();
        // It is the only connection: the next attempt waits for it, or takes it.
        Disposable next = send(upstream, exchange, (response, connection) -> Mono.never());
        try {
            awaitReleased();
        } finally {
            next.dispose();
        }
    }

    private static UpstreamConnection exchange() {
        return new UpstreamConnection(OnClientLeft.FINISH, PoolSettings.DEFAULT_MAX_HOLD, Schedulers.parallel());
    }

    /** An upstream that answers the first request only. */
    private DisposableServer answerOnce(boolean whole) {
        int length = whole ? BODY.length() : BODY.length() + 1;
        // In one piece: after the head, Reactor Netty reads no more until the body is requested.
        String answer = "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s".formatted(length, BODY);
        AtomicBoolean hasAnswered = new AtomicBoolean();
        DisposableServer upstream = TcpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> hasAnswered.compareAndSet(false, true)
                        ? request.receive()
                                .take(1)
                                .thenMany(response.sendString(Mono.just(answer)))
                                .then(Mono.never())
                        : Mono.never())
                .bindNow();
        server = upstream;
        return upstream;
    }

    /** Returns when the response has arrived and its body is unread. */
    private Disposable answered(DisposableServer upstream, UpstreamConnection exchange) {
        Sinks.One<Connection> emitted = Sinks.one();
        Disposable client = send(upstream, exchange, (response, connection) -> {
            emitted.tryEmitValue(connection);
            return Mono.never();
        });
        assertThat(emitted.asMono().block(Duration.ofSeconds(20))).isNotNull();
        Awaitility.await().until(() -> !received.isEmpty());
        assertThat(received).allMatch(buffer -> buffer.refCnt() == 1, "is kept for a reader");
        return client;
    }

    private Disposable send(
            DisposableServer upstream,
            UpstreamConnection exchange,
            BiFunction<HttpClientResponse, Connection, Mono<Void>> onAnswer) {
        return UpstreamConnection.NOTED
                .customize(HttpClient.create(connections))
                .doOnRequest((request, connection) -> watch(connection))
                .get()
                .uri("http://127.0.0.1:" + upstream.port())
                .responseConnection(onAnswer)
                .contextWrite(context -> Carried.with(context, exchange))
                .subscribe();
    }

    private void awaitReleased() {
        Awaitility.await()
                .untilAsserted(() -> assertThat(received).allMatch(buffer -> buffer.refCnt() == 0, "is released"));
    }

    private void watch(Connection connection) {
        ChannelPipeline pipeline = connection.channel().pipeline();
        if (pipeline.get("watch") == null) {
            pipeline.addBefore(NettyPipeline.ReactiveBridge, "watch", new Watch());
        }
    }

    private final class Watch extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof ReferenceCounted counted
                    && counted instanceof ByteBufHolder holder
                    && holder.content().isReadable()) {
                received.add(counted);
            }
            context.fireChannelRead(message);
        }
    }
}
