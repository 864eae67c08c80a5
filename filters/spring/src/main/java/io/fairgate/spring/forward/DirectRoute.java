package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.PRESERVE_HOST_HEADER_ATTRIBUTE;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RouteTimeouts;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClient.ResponseReceiver;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.transport.AddressUtils;

/**
 * Sends the requests of one route to its upstream, and writes the responses. It does what Spring Cloud Gateway's own
 * filters do for such a route ({@code RouteToRequestUrlFilter}, {@code NettyRoutingFilter},
 * {@code NettyWriteResponseFilter}), except that the target is sent as it was received: they sort its parameters by name.
 */
final class DirectRoute implements Forward {

    private final RouteFilters filters;
    private final UpstreamHeaders headers;
    private final HttpClient client;
    /** The beginning of each URI; empty when the HTTP client knows the address. */
    private final String base;

    /** 0 for none. */
    private final long responseNanos;

    private final List<MediaType> streamed;
    /** What is the same for all requests with one method; only methods that Netty knows, because there are few. */
    private final Map<HttpMethod, ResponseReceiver<?>> senders = new ConcurrentHashMap<>();

    /** @throws NumberFormatException when a time-out in the metadata of the route is not a number */
    DirectRoute(
            Route route,
            UpstreamHeaders headers,
            HttpClient client,
            HttpClientProperties clientProperties,
            GatewayProperties properties) {
        URI to = route.getUri();
        this.filters = RouteFilters.of(route.getFilters());
        this.headers = headers;
        Duration responseTimeout = RouteTimeouts.response(route, clientProperties);
        this.responseNanos = responseTimeout == null ? 0 : Math.max(1, responseTimeout.toNanos());
        this.streamed = properties.getStreamingMediaTypes();
        Integer connectTimeout = RouteTimeouts.connect(route, clientProperties);
        HttpClient own =
                connectTimeout == null ? client : client.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeout);
        boolean isSecure = DirectRoutes.isSecure(to);
        if (!isSecure) {
            // With its address known, the HTTP client need not parse a URI for each request.
            InetSocketAddress address = named(host(to), to.getPort() < 0 ? 80 : to.getPort());
            this.client = own.noSSL()
                    .remoteAddress(() -> address)
                    .headers(all -> all.set(HttpHeaderNames.HOST, authority(to)));
            this.base = "";
        } else {
            this.client = own;
            this.base = "https://" + to.getHost() + (to.getPort() < 0 ? "" : ":" + to.getPort());
        }
    }

    private static String host(URI to) {
        String host = to.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    /** An IP address keeps its text as its name: Reactor Netty asks for the name at each request. */
    private static InetSocketAddress named(String host, int port) {
        InetSocketAddress address = AddressUtils.createUnresolved(host, port);
        if (address.isUnresolved()) {
            return address;
        }
        try {
            return new InetSocketAddress(
                    InetAddress.getByAddress(host, address.getAddress().getAddress()), port);
        } catch (UnknownHostException e) {
            return address; // Never: the address has its right length.
        }
    }

    /** The value of {@code Host}, as Reactor Netty writes it. */
    private static String authority(URI to) {
        int port = to.getPort();
        return port < 0 || port == 80 || port == 443 ? to.getHost() : to.getHost() + ":" + port;
    }

    @Override
    public Mono<Void> send(ServerWebExchange exchange) {
        UpstreamCall call = new UpstreamCall(this);
        if (!filters.filters().isEmpty()) {
            Exchanges.addFieldsOnCommit(exchange); // A filter may write the response.
        }
        return filters.around(exchange, call::exchange)
                .then(Mono.defer(() -> call.write(exchange)))
                .doFinally(call::end);
    }

    /** Sends a request; completes with the headers of its response. */
    Mono<Void> exchange(ServerHttpRequest request, UpstreamCall call) {
        HttpMethod method = HttpMethod.valueOf(request.getMethod().name());
        Flux<Void> answered = sender(method)
                .uri(base + DirectRequest.target(request))
                .responseConnection((response, connection) -> call.answered(response, connection));
        Connection client = Objects.requireNonNull(Exchanges.connection(call.request()));
        return UpstreamAnswer.to(answered, client, responseNanos, call);
    }

    @SuppressWarnings("ReferenceEquality") // Netty has one object for each method that it knows.
    private ResponseReceiver<?> sender(HttpMethod method) {
        return method == HttpMethod.valueOf(method.name())
                ? senders.computeIfAbsent(method, this::newSender)
                : newSender(method);
    }

    private ResponseReceiver<?> newSender(HttpMethod method) {
        return client.request(method).send(this::sendRequest);
    }

    private Publisher<Void> sendRequest(HttpClientRequest upstream, NettyOutbound outbound) {
        UpstreamCall call = Objects.requireNonNull(Carried.find(upstream.currentContextView(), UpstreamCall.class));
        ServerWebExchange exchange = call.request();
        io.netty.handler.codec.http.HttpHeaders to = upstream.requestHeaders();
        headers.copyRequest(exchange, to);
        if (exchange.getAttributeOrDefault(PRESERVE_HOST_HEADER_ATTRIBUTE, false)) {
            String host = exchange.getRequest().getHeaders().getFirst(HttpHeaders.HOST);
            to.set(HttpHeaders.HOST, host == null ? "" : host);
        }
        Flux<DataBuffer> body = exchange.getRequest().getBody();
        return outbound.send(
                (Exchanges.isPaced(exchange) ? noted(body, call) : body).map(NettyDataBufferFactory::toByteBuf));
    }

    /** Only of a client that must send at a certain pace: otherwise one could hold the upstream for ever. The end may come later than the last byte. */
    private static Flux<DataBuffer> noted(Flux<DataBuffer> body, UpstreamCall call) {
        return body.doOnNext(part -> call.sends()).doOnComplete(call::sends);
    }

    UpstreamHeaders headers() {
        return headers;
    }

    /** Whether each part of a body of this type is sent on at once. */
    boolean isStreamed(@Nullable MediaType type) {
        if (type != null) {
            for (int i = 0; i < streamed.size(); i++) {
                if (streamed.get(i).isCompatibleWith(type)) {
                    return true;
                }
            }
        }
        return false;
    }
}
