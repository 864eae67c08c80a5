package io.fairgate.spring.websocket;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_CONN_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_HEADER_NAMES;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.ORIGINAL_RESPONSE_CONTENT_TYPE_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.PRESERVE_HOST_HEADER_ATTRIBUTE;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.isAlreadyRouted;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.setAlreadyRouted;

import io.fairgate.spring.exchange.RouteTimeouts;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLParameters;
import org.reactivestreams.Publisher;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.tcp.SslProvider;

/**
 * Sends the handshake of a WebSocket to the upstream as an ordinary request, and completes with the headers of the response, as
 * Spring Cloud Gateway's {@code NettyRoutingFilter} does for other requests. If the upstream accepts, {@link TunnelFilter} continues;
 * otherwise the client gets the upstream's response.
 *
 * <p>{@code ws} and {@code wss} in the URI of a route mean {@code http} and {@code https}.
 */
final class HandshakeFilter implements GlobalFilter, Ordered {

    private final HttpClient client;
    private final HttpClientProperties properties;
    private final List<HttpHeadersFilter> headersFilters;

    HandshakeFilter(HttpClient client, HttpClientProperties properties, List<HttpHeadersFilter> headersFilters) {
        this.client = overHttp1(client).doOnRequest((request, connection) -> AwaitedSwitch.addTo(connection.channel()));
        this.properties = properties;
        this.headersFilters = headersFilters;
    }

    /** HTTP/2 has no upgrade. Its offer to the upstream is part of the settings of TLS, which the application may have made. */
    private static HttpClient overHttp1(HttpClient client) {
        SslProvider tls = client.configuration().sslProvider();
        HttpClient offering = tls == null
                ? client
                : client.secure(SslProvider.addHandlerConfigurator(tls, HandshakeFilter::offerHttp1));
        return offering.protocol(HttpProtocol.HTTP11);
    }

    private static void offerHttp1(SslHandler handler) {
        SSLParameters parameters = handler.engine().getSSLParameters();
        parameters.setApplicationProtocols(new String[] {ApplicationProtocolNames.HTTP_1_1});
        handler.engine().setSSLParameters(parameters);
    }

    /** Just before Spring Cloud Gateway's {@code WebsocketRoutingFilter}. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE - 2;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        URI to = overHttp(exchange.getRequiredAttribute(GATEWAY_REQUEST_URL_ATTR));
        exchange.getAttributes().put(GATEWAY_REQUEST_URL_ATTR, to);
        boolean isHttp =
                to.getScheme().equalsIgnoreCase("http") || to.getScheme().equalsIgnoreCase("https");
        if (!isHttp || isAlreadyRouted(exchange) || !isHandshake(exchange)) {
            return chain.filter(exchange);
        }
        setAlreadyRouted(exchange);
        return send(exchange, to).then(chain.filter(exchange));
    }

    private static URI overHttp(URI to) {
        String scheme = to.getScheme().toLowerCase(Locale.ROOT);
        return scheme.equals("ws") || scheme.equals("wss")
                ? URI.create("http" + to.toString().substring("ws".length()))
                : to;
    }

    /** Also after the filters of the route. */
    private static boolean isHandshake(ServerWebExchange exchange) {
        return ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest()) instanceof HttpServerRequest request
                && Handshake.isRequested(request)
                && exchange.getRequest().getHeaders().getUpgrade() != null;
    }

    private Mono<Void> send(ServerWebExchange exchange, URI to) {
        Route route = exchange.getRequiredAttribute(GATEWAY_ROUTE_ATTR);
        Integer connectTimeout = RouteTimeouts.connect(route, properties);
        HttpClient own =
                connectTimeout == null ? client : client.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeout);
        Flux<Void> answered = own.headers(headers -> writeHeaders(exchange, headers))
                .get()
                .uri(to.toASCIIString())
                .responseConnection((response, connection) -> answered(exchange, response, connection));
        Duration most = RouteTimeouts.response(route, properties);
        return (most == null ? answered : answered.timeout(most)).then();
    }

    private void writeHeaders(ServerWebExchange exchange, io.netty.handler.codec.http.HttpHeaders to) {
        HttpHeaders filtered = HttpHeadersFilter.filterRequest(headersFilters, exchange);
        filtered.forEach(to::set);
        to.remove(HttpHeaderNames.HOST);
        if (exchange.getAttributeOrDefault(PRESERVE_HOST_HEADER_ATTRIBUTE, false)) {
            String host = exchange.getRequest().getHeaders().getFirst(HttpHeaders.HOST);
            to.set(HttpHeaderNames.HOST, host == null ? "" : host);
        }
        to.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE);
        to.set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET);
    }

    /** On the event loop of the connection. */
    private Publisher<Void> answered(ServerWebExchange exchange, HttpClientResponse upstream, Connection on) {
        Channel channel = on.channel();
        AwaitedSwitch bytes = AwaitedSwitch.on(channel);
        exchange.getAttributes().put(CLIENT_RESPONSE_ATTR, upstream);
        if (upstream.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS) && bytes != null) {
            new SwitchedUpstream(on, channel, bytes).keepIn(exchange);
        } else {
            exchange.getAttributes().put(CLIENT_RESPONSE_CONN_ATTR, on);
        }
        copyHead(upstream, exchange);
        return Mono.empty();
    }

    private void copyHead(HttpClientResponse upstream, ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(HttpStatusCode.valueOf(upstream.status().code()));
        String type = upstream.responseHeaders().get(HttpHeaderNames.CONTENT_TYPE);
        if (type != null) {
            exchange.getAttributes().put(ORIGINAL_RESPONSE_CONTENT_TYPE_ATTR, type);
        }
        HttpHeaders headers = new HttpHeaders();
        upstream.responseHeaders().forEach(header -> headers.add(header.getKey(), header.getValue()));
        HttpHeaders filtered =
                HttpHeadersFilter.filter(headersFilters, headers, exchange, HttpHeadersFilter.Type.RESPONSE);
        if (filtered.containsHeader(HttpHeaders.CONTENT_LENGTH)) {
            response.getHeaders().remove(HttpHeaders.TRANSFER_ENCODING);
        }
        exchange.getAttributes().put(CLIENT_RESPONSE_HEADER_NAMES, filtered.headerNames());
        response.getHeaders().addAll(filtered);
    }
}
