package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_SERVER_HTTP_REQUEST_DECORATOR_ATTR;

import io.fairgate.spring.websocket.Handshake;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2StreamChannel;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.AbstractServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.UriComponentsBuilder;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Reads requests of clients as Reactor Netty received them. */
final class DirectRequest {

    /** Spring's view of a request of Reactor Netty. It is not public; a changed request is of another class. */
    private static final Class<?> AS_RECEIVED = ClassUtils.resolveClassName(
            "org.springframework.http.server.reactive.ReactorServerHttpRequest",
            AbstractServerHttpRequest.class.getClassLoader());

    private static final String ANY_HOST = "host";

    private DirectRequest() {}

    /**
     * Whether a request can be forwarded directly. Not if it asks for a WebSocket or is one of gRPC, if its body has been
     * read already, if the application has decorated its response, or if its target is not plain.
     */
    static boolean isPossible(ServerWebExchange exchange) {
        Map<String, Object> attributes = exchange.getAttributes();
        return exchange.getResponse() instanceof AbstractServerHttpResponse response
                && response.getNativeResponse() instanceof HttpServerResponse
                && ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest())
                        instanceof HttpServerRequest request
                && !Handshake.isRequested(request)
                && !isGrpc(request.requestHeaders())
                && isPlain(request.uri())
                && !attributes.containsKey(CACHED_REQUEST_BODY_ATTR)
                && !attributes.containsKey(CACHED_SERVER_HTTP_REQUEST_DECORATOR_ATTR)
                && !ServerWebExchangeUtils.isAlreadyRouted(exchange);
    }

    /** The request without an {@code Upgrade} field that is to be ignored: Spring Cloud Gateway would answer 400 to some. */
    static ServerWebExchange withoutIgnoredUpgrade(ServerWebExchange exchange) {
        if (ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest()) instanceof HttpServerRequest request
                && request.requestHeaders().contains(HttpHeaderNames.UPGRADE)
                && !Handshake.isRequested(request)) {
            return exchange.mutate()
                    .request(changed -> changed.headers(headers -> headers.remove("Upgrade")))
                    .build();
        }
        return exchange;
    }

    private static boolean isGrpc(HttpHeaders headers) {
        String type = headers.get(HttpHeaderNames.CONTENT_TYPE);
        return type != null && type.regionMatches(true, 0, "application/grpc", 0, "application/grpc".length());
    }

    /** Spring Cloud Gateway encodes other characters than ASCII, and merges slashes. */
    private static boolean isPlain(String target) {
        char last = 0;
        for (int i = 0; i < target.length(); i++) {
            char c = target.charAt(i);
            if (c >= 0x80 || (c == '/' && last == '/')) {
                return false;
            }
            last = c;
        }
        return true;
    }

    static HttpServerResponse response(ServerWebExchange exchange) {
        return ServerHttpResponseDecorator.getNativeResponse(exchange.getResponse());
    }

    /** The headers as Netty received them; null when a filter has changed them. */
    @SuppressWarnings("ReferenceEquality") // A filter that changes headers makes an object of its own.
    static @Nullable HttpHeaders headers(ServerHttpRequest request) {
        ServerHttpRequest received = received(request);
        return received != null && received.getHeaders() == request.getHeaders()
                ? ((HttpServerRequest) ServerHttpRequestDecorator.getNativeRequest(request)).requestHeaders()
                : null;
    }

    /** The path and the query, as the client sent them unless a filter has changed them. */
    @SuppressWarnings("ReferenceEquality") // A filter that changes the path makes an object of its own.
    static String target(ServerHttpRequest request) {
        URI uri = request.getURI();
        ServerHttpRequest received = received(request);
        if (received != null && received.getURI() == uri) {
            String target = ((HttpServerRequest) ServerHttpRequestDecorator.getNativeRequest(request)).uri();
            if (target.startsWith("/") && target.indexOf('#') < 0) {
                return target;
            }
        }
        return changedTarget(uri);
    }

    /** As Spring Cloud Gateway's {@code RouteToRequestUrlFilter} writes it: filters may leave what no URI may have. */
    private static String changedTarget(URI uri) {
        String text = UriComponentsBuilder.fromUri(uri)
                .scheme("http")
                .userInfo(null)
                .host(ANY_HOST)
                .port(-1)
                .fragment(null)
                .build(ServerWebExchangeUtils.containsEncodedParts(uri))
                .toUri()
                .toASCIIString();
        String target = text.substring("http://".length() + ANY_HOST.length());
        return target.startsWith("/") ? target : "/" + target;
    }

    /**
     * Whether a request is as it was received, and nothing must read its body: it has none, and its client does not wait for 100. Over HTTP/2
     * a body needs no header.
     */
    static boolean isWithoutBody(ServerHttpRequest request) {
        return request.getClass() == AS_RECEIVED
                && request.getMethod().equals(HttpMethod.GET)
                && ServerHttpRequestDecorator.getNativeRequest(request) instanceof HttpServerRequest received
                && received instanceof Connection client
                && !(client.channel() instanceof Http2StreamChannel) // Its requests have the version 1.1 too.
                && !received.requestHeaders().contains(HttpHeaderNames.CONTENT_LENGTH)
                && !received.requestHeaders().contains(HttpHeaderNames.TRANSFER_ENCODING)
                && !received.requestHeaders().contains(HttpHeaderNames.EXPECT);
    }

    private static @Nullable ServerHttpRequest received(ServerHttpRequest request) {
        ServerHttpRequest received = request;
        while (received instanceof ServerHttpRequestDecorator decorator) {
            received = decorator.getDelegate();
        }
        return received.getClass() == AS_RECEIVED ? received : null;
    }
}
