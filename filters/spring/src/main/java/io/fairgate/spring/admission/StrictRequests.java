package io.fairgate.spring.admission;

import io.fairgate.spring.exchange.HostField;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.refusal.RouteMeters;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;

/**
 * Refuses what RFC 9110 and RFC 9112 do not allow in a request and Reactor Netty passes on, before any filter and whether
 * or not a route matches. On another server than Reactor Netty it refuses nothing. Over HTTP/1.1 the connection is closed: what
 * follows may not be a request.
 *
 * @param mayTrace whether {@code TRACE} is forwarded like other methods
 */
public record StrictRequests(RefusalMeters refusals, AccessLog accessLog, RouteMeters meters, boolean mayTrace) {

    private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://");
    private static final String METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

    /** A 2xx would make a tunnel of the pooled connection to the upstream: the next request on it would hang. */
    private static final Refusal CONNECT = refusal(
            HttpStatus.METHOD_NOT_ALLOWED,
            "connect",
            "The gateway opens no tunnels.",
            headers -> headers.set(HttpHeaders.ALLOW, METHODS));

    /** Its response shows all fields of the request, also those that proxies added (RFC 9110, 9.3.8). */
    private static final Refusal TRACE =
            refusal(HttpStatus.NOT_IMPLEMENTED, "trace", "The gateway does not serve TRACE.", Refusal.NO_FIELDS);

    private static final Refusal VERSION = refusal(
            HttpStatus.HTTP_VERSION_NOT_SUPPORTED,
            "version",
            "The gateway serves HTTP/1.0, HTTP/1.1 and HTTP/2.",
            Refusal.NO_FIELDS);

    private static final Refusal TARGET = refusal(
            HttpStatus.BAD_REQUEST,
            "target",
            "The target of the request must be a path or a URL, without a fragment (RFC 9112, 3.2).",
            Refusal.NO_FIELDS);

    private static final Refusal HOST = refusal(
            HttpStatus.BAD_REQUEST,
            "host",
            "The request must have exactly one Host field with a host and, if need be, a port (RFC 9112, 3.2).",
            Refusal.NO_FIELDS);

    private static final Refusal TRANSFER_CODING = refusal(
            HttpStatus.NOT_IMPLEMENTED,
            "transfer-encoding",
            "The gateway knows no transfer coding but chunked (RFC 9112, 6.1).",
            Refusal.NO_FIELDS);

    private static final Refusal FRAMING = refusal(
            HttpStatus.BAD_REQUEST,
            "transfer-encoding",
            "The length of the body is not certain: Transfer-Encoding must be chunked, once, and in HTTP/1.1 (RFC 9112, 6.3).",
            Refusal.NO_FIELDS);

    private static Refusal refusal(HttpStatus status, String reason, String detail, Consumer<HttpHeaders> fields) {
        Consumer<HttpHeaders> all = headers -> headers.set(HttpHeaders.CONNECTION, "close");
        return new Refusal(status, reason, detail, List.of(), null, all.andThen(fields));
    }

    /** The refusal of the request; null when it must not be refused here. */
    public @Nullable Refusal refusalOf(ServerHttpRequest request) {
        ServerHttpRequest received = request;
        while (received instanceof ServerHttpRequestDecorator decorator) {
            received = decorator.getDelegate();
        }
        return received instanceof AbstractServerHttpRequest plain
                        && plain.getNativeRequest() instanceof HttpServerRequest netty
                ? refusalOf(netty)
                : null;
    }

    private @Nullable Refusal refusalOf(HttpServerRequest request) {
        HttpMethod method = request.method();
        int version = request.version().majorVersion(); // "HTTP/2.0" in a line of HTTP/1.1 is refused before.
        if (version != 1 && version != 2) {
            return VERSION;
        } else if (HttpMethod.CONNECT.equals(method)) {
            return CONNECT;
        } else if (HttpMethod.TRACE.equals(method) && !mayTrace) {
            return TRACE;
        } else if (!isTarget(request.uri(), method, version)) {
            return TARGET;
        }
        boolean needsHost = !HttpVersion.HTTP_1_0.equals(request.version());
        if (!HostField.isValid(request.requestHeaders(), needsHost)) {
            return HOST;
        }
        return switch (TransferCodings.of(request.requestHeaders(), request.version())) {
            case NONE, CHUNKED -> null;
            case UNKNOWN -> TRANSFER_CODING;
            case UNCERTAIN -> FRAMING;
        };
    }

    private static boolean isTarget(String target, HttpMethod method, int version) {
        return target.indexOf('#') < 0
                && (target.startsWith("/")
                        || (version == 1 && URL.matcher(target).lookingAt())
                        || (target.equals("*") && HttpMethod.OPTIONS.equals(method)));
    }

    /** Refuses a request that has not come to its admission: counts it, writes its record of the access log, and errors. */
    public Mono<Void> refuse(ServerWebExchange exchange, Refusal refusal) {
        return refuse(exchange, refusal, new NotAdmittedException(refusal));
    }

    /** As above, with an error of Spring's, so that handlers of the application that come first see this one. */
    public Mono<Void> refuse(ServerWebExchange exchange, Refusal refusal, Throwable failure) {
        return accessLog.record(exchange, Mono.defer(() -> {
            meters.received(exchange);
            Decisions.setRefusal(exchange, refusal);
            refusals.refused(null, refusal.reason(), true);
            return Mono.error(failure);
        }));
    }
}
