package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.server.HttpServerResponse;

/** One request to an upstream, and its response. */
final class UpstreamCall implements UpstreamAnswer.Call {

    private final DirectRoute route;
    private volatile @Nullable ServerWebExchange request;
    private volatile @Nullable UpstreamAnswer answer;
    private volatile @Nullable HttpClientResponse response;
    private volatile @Nullable Connection connection;
    private volatile @Nullable ShortBody body;
    private volatile boolean isOver;

    UpstreamCall(DirectRoute route) {
        this.route = route;
    }

    /** The request as the filters of the route have changed it. */
    ServerWebExchange request() {
        return Objects.requireNonNull(request);
    }

    /** Sends the request; completes with the headers of the response, which the filters of the route may change. */
    Mono<Void> exchange(ServerWebExchange changed) {
        request = changed;
        return route.exchange(changed.getRequest(), this);
    }

    @Override
    public void awaits(UpstreamAnswer awaited) {
        answer = awaited;
    }

    /** A part of the request's body is being sent. */
    void sends() {
        UpstreamAnswer awaited = answer;
        if (awaited != null) {
            awaited.begunAgain();
        }
    }

    Publisher<Void> answered(HttpClientResponse upstream, Connection on) {
        response = upstream;
        Connection own = ResponseConnection.of(on);
        connection = own;
        if (isOver) { // Either this sees the end, or the end sees the connection.
            own.dispose();
        }
        ServerWebExchange exchange = request();
        route.meters().responded(exchange, upstream.status().code());
        exchange.getResponse()
                .setStatusCode(HttpStatusCode.valueOf(upstream.status().code()));
        route.headers()
                .copyResponse(
                        exchange,
                        upstream.responseHeaders(),
                        DirectRequest.response(exchange).responseHeaders());
        return Mono.empty();
    }

    /** Writes the response to the client; does nothing when a filter of the route has answered. */
    Mono<Void> write(ServerWebExchange exchange) {
        HttpClientResponse upstream = response;
        Connection on = connection;
        if (upstream == null || on == null) {
            return Mono.empty();
        }
        Exchanges.addFields(exchange);
        ServerHttpResponse client = exchange.getResponse();
        boolean isStreamed = route.isStreamed(type(client));
        boolean hasTrailers = mayHaveTrailers(upstream);
        if (!isStreamed
                && !hasTrailers
                && !ClientConnection.isStream(exchange)
                && on instanceof ResponseConnection own
                && ShortBody.isIn(upstream)) {
            ShortBody begun = new ShortBody(own.inbound().receive().retain(), own.loop());
            body = begun;
            return begun.flatMap(whole -> write(exchange, whole))
                    .doOnError(failed -> client.getHeaders().clearContentHeaders());
        }
        Flux<DataBuffer> parts = buffers(client, on.inbound().receive().retain());
        Mono<Void> written = isStreamed ? client.writeAndFlushWith(parts.map(Flux::just)) : client.writeWith(parts);
        return hasTrailers
                ? written.then(upstream.trailerHeaders())
                        .doOnNext(trailers -> addTrailers(exchange, trailers))
                        .then()
                : written;
    }

    private static Mono<Void> write(ServerWebExchange exchange, Publisher<ByteBuf> body) {
        ServerHttpResponse client = exchange.getResponse();
        HttpServerResponse netty = body instanceof Mono ? Exchanges.nettyResponse(exchange) : null;
        // A response in one piece to a request of HTTP/1.0 would have that version too, and end the connection.
        return netty == null || client.isCommitted() || netty.version().equals(HttpVersion.HTTP_1_0)
                ? client.writeWith(buffers(client, Flux.from(body)))
                // As writeWith does, with fewer operators.
                : ClientConnection.onLoop(
                        exchange,
                        Mono.defer(
                                () -> client.setComplete().then(netty.send(body).then())));
    }

    private static Flux<DataBuffer> buffers(ServerHttpResponse client, Flux<ByteBuf> parts) {
        NettyDataBufferFactory buffers = (NettyDataBufferFactory) client.bufferFactory();
        return parts.map(buffers::wrap);
    }

    private static @Nullable MediaType type(ServerHttpResponse response) {
        try {
            return response.getHeaders().getContentType();
        } catch (InvalidMediaTypeException e) {
            return null;
        }
    }

    /** A body with a length has no trailers in HTTP/1.1. */
    private static boolean mayHaveTrailers(HttpClientResponse upstream) {
        return upstream.version().majorVersion() != HttpVersion.HTTP_1_1.majorVersion()
                || !upstream.responseHeaders().contains(HttpHeaderNames.CONTENT_LENGTH);
    }

    private static void addTrailers(ServerWebExchange exchange, io.netty.handler.codec.http.HttpHeaders trailers) {
        if (!trailers.isEmpty()) {
            HttpServerResponse client = DirectRequest.response(exchange);
            client.trailerHeaders(all -> all.add(trailers));
        }
    }

    /** If the response was not written to its end, its connection is of no use any more. */
    void end(SignalType how) {
        isOver = true;
        ShortBody begun = body;
        if (begun != null) {
            begun.end();
        }
        Connection on = connection;
        if (how != SignalType.ON_COMPLETE && on != null) {
            on.dispose();
        }
    }
}
