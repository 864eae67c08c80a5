package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.Exchanges;
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
        NettyDataBufferFactory buffers = (NettyDataBufferFactory) client.bufferFactory();
        Flux<DataBuffer> body = on.inbound().receive().retain().map(buffers::wrap);
        Mono<Void> written = route.isStreamed(type(client))
                ? client.writeAndFlushWith(body.map(Flux::just))
                : client.writeWith(body);
        return mayHaveTrailers(upstream)
                ? written.then(upstream.trailerHeaders())
                        .doOnNext(trailers -> addTrailers(exchange, trailers))
                        .then()
                : written;
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
        Connection on = connection;
        if (how != SignalType.ON_COMPLETE && on != null) {
            on.dispose();
        }
    }
}
