package io.fairgate.spring.proxy;

import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.HostField;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.http.server.HttpServerRequest;

/**
 * A request as the gateway received it, whatever filters have made of it since.
 *
 * @param peer the address of the connection; null if it is not known
 * @param scheme that of the connection, and not of the target, which the client writes
 * @param headers the lines of a header, by its name
 */
record ReceivedRequest(@Nullable InetAddress peer, String scheme, Function<String, List<String>> headers) {

    static ReceivedRequest of(ServerWebExchange exchange) {
        ServerHttpRequest request = exchange.getRequest();
        InetAddress peer = ClientConnection.peer(exchange);
        return ServerHttpRequestDecorator.getNativeRequest(request) instanceof HttpServerRequest netty
                ? new ReceivedRequest(peer, netty.connectionScheme(), netty.requestHeaders()::getAll)
                : new ReceivedRequest(
                        peer,
                        request.getSslInfo() == null ? "http" : "https",
                        name -> request.getHeaders().getOrDefault(name, List.of()));
    }

    List<String> lines(String header) {
        return headers.apply(header);
    }

    /** The value of {@code Host}; empty if the request has no such header, or if its host is not plain. */
    String host() {
        List<String> lines = lines(HttpHeaders.HOST);
        return !lines.isEmpty() && HostField.isPlainHost(lines.get(0)) ? lines.get(0) : "";
    }
}
