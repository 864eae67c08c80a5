package io.fairgate.gateway.http;

import io.fairgate.spring.exchange.ClientConnection;
import io.netty.channel.ChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpStatus;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * One request, as the {@link RouteTable} passes it to the handler of its route.
 *
 * @param parts the values of the path's variable segments, by name and in their order, percent-decoded once
 */
public record HttpCall(ServerWebExchange exchange, Map<String, String> parts) {

    /** The value of a variable segment of the route. */
    public String part(String name) {
        return Objects.requireNonNull(parts.get(name), name);
    }

    /** The path as it was sent, still encoded. */
    public String path() {
        return exchange.getRequest().getURI().getRawPath();
    }

    /** The media type of the body; null when the request has none, or a malformed one. */
    public @Nullable MediaType contentType() {
        try {
            return exchange.getRequest().getHeaders().getContentType();
        } catch (InvalidMediaTypeException e) {
            return null;
        }
    }

    /** Answers a call. */
    @FunctionalInterface
    public interface Handler {
        Mono<Void> handle(HttpCall call);
    }

    /**
     * The whole body.
     *
     * @param tooLong the error for a body of more than {@code mostBytes}
     * @param tooSlow the error for a body that does not arrive in time; the connection is closed after the answer
     */
    public Mono<byte[]> body(int mostBytes, Throwable tooLong, Throwable tooSlow) {
        return DataBufferUtils.join(exchange.getRequest().getBody(), mostBytes)
                .map(HttpCall::bytes)
                .onErrorMap(DataBufferLimitException.class, e -> tooLong)
                // Reactor Netty's own exception is not public, and reading a body raises no other of its base type.
                .onErrorMap(ChannelException.class, e -> tooSlow)
                .defaultIfEmpty(new byte[0]);
    }

    private static byte[] bytes(DataBuffer buffer) {
        try {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            return bytes;
        } finally {
            DataBufferUtils.release(buffer);
        }
    }

    /**
     * Answers with a body.
     *
     * @param contentType the value of the header; empty for no header
     */
    public Mono<Void> answer(HttpStatus status, String contentType, byte[] body) {
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(status);
        if (!contentType.isEmpty()) {
            response.getHeaders().set("Content-Type", contentType);
        }
        response.getHeaders().setContentLength(body.length);
        return ClientConnection.onLoop(
                exchange,
                response.writeWith(
                        Mono.fromSupplier(() -> response.bufferFactory().wrap(body))));
    }

    public Mono<Void> answer(HttpStatus status, String contentType, String body) {
        return answer(status, contentType, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Answers without a body. */
    public Mono<Void> answer(HttpStatus status) {
        exchange.getResponse().setStatusCode(status);
        return ClientConnection.onLoop(exchange, exchange.getResponse().setComplete());
    }
}
