package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.PRESERVE_HOST_HEADER_ATTRIBUTE;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RouteTimeouts;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.spring.upstream.InstanceAddress;
import io.fairgate.spring.upstream.InstanceUse;
import io.fairgate.spring.upstream.LiveUpstream;
import io.fairgate.upstream.Upstream;
import io.netty.channel.ChannelOption;
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
import reactor.netty.http.client.HttpClientRequest;

/**
 * Sends the requests of one route to its upstream, and writes the responses. It does what Spring Cloud Gateway's own
 * filters do for such a route ({@code RouteToRequestUrlFilter}, {@code NettyRoutingFilter},
 * {@code NettyWriteResponseFilter}), except that the target is sent as it was received: they sort its parameters by name.
 */
final class DirectRoute implements Forward {

    private static final int MOST_INSTANCES = 2 * Upstream.MAX_INSTANCES;

    private final RouteFilters filters;
    private final UpstreamHeaders headers;
    private final RouteMeters meters;
    private final HttpClient client;

    /** The only upstream of the route; null when it has several instances. */
    private final @Nullable DirectUpstream only;

    /** Chooses the instance for each request; null when there is only one. */
    private final @Nullable LiveUpstream several;

    private final Map<InstanceAddress, DirectUpstream> instances = new ConcurrentHashMap<>();

    /** 0 for none. */
    private final long responseNanos;

    private final List<MediaType> streamed;

    /**
     * @param several the upstream with several instances that the route is to; null when its URI is that of the only one
     * @throws NumberFormatException when a time-out in the metadata of the route is not a number
     */
    DirectRoute(
            Route route,
            @Nullable LiveUpstream several,
            UpstreamHeaders headers,
            RouteMeters meters,
            HttpClient client,
            HttpClientProperties clientProperties,
            GatewayProperties properties) {
        this.filters = RouteFilters.of(route.getFilters());
        this.headers = headers;
        this.meters = meters;
        Duration responseTimeout = RouteTimeouts.response(route, clientProperties);
        this.responseNanos = responseTimeout == null ? 0 : Math.max(1, responseTimeout.toNanos());
        this.streamed = properties.getStreamingMediaTypes();
        Integer connectTimeout = RouteTimeouts.connect(route, clientProperties);
        this.client =
                connectTimeout == null ? client : client.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeout);
        this.several = several;
        this.only = several == null ? upstream(new InstanceAddress(route.getUri(), null)) : null;
    }

    private DirectUpstream upstream(InstanceAddress instance) {
        return new DirectUpstream(instance, client, this::sendRequest);
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
        LiveUpstream upstream = several;
        return upstream == null
                ? exchange(request, call, Objects.requireNonNull(only))
                : upstream.send(call.request(), use -> exchange(request, call, instance(use.instance())));
    }

    private Mono<Void> exchange(ServerHttpRequest request, UpstreamCall call, DirectUpstream upstream) {
        Flux<Void> answered = upstream.request(request)
                .responseConnection((response, connection) -> call.answered(response, connection));
        Connection client = Objects.requireNonNull(ClientConnection.of(call.request()));
        return UpstreamAnswer.to(answered, client, responseNanos, call);
    }

    private DirectUpstream instance(InstanceAddress address) {
        DirectUpstream known = instances.get(address);
        if (known != null) {
            return known;
        }
        if (instances.size() >= MOST_INSTANCES) { // Addresses of names come and go.
            instances.clear();
        }
        return instances.computeIfAbsent(address, this::upstream);
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
        InstanceUse use = several == null ? null : Carried.find(upstream.currentContextView(), InstanceUse.class);
        if (use == null && DirectRequest.isWithoutBody(exchange.getRequest())) {
            return outbound.send(Flux.empty()); // An empty Mono would not report that it cannot be sent.
        }
        Flux<DataBuffer> received = exchange.getRequest().getBody();
        Flux<DataBuffer> body = use == null ? received : use.body(received);
        return outbound.send(
                (Exchanges.isPaced(exchange) ? noted(body, call) : body).map(NettyDataBufferFactory::toByteBuf));
    }

    /** Only of a client that must send at a certain pace: otherwise one could hold the upstream for ever. The end may come later than the last byte. */
    private static Flux<DataBuffer> noted(Flux<DataBuffer> body, UpstreamCall call) {
        return body.doOnNext(part -> call.sends()).doOnComplete(call::sends);
    }

    RouteMeters meters() {
        return meters;
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
