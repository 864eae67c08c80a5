package io.fairgate.spring.upstream;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ALREADY_ROUTED_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.PRESERVE_HOST_HEADER_ATTRIBUTE;

import java.net.URI;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.RouteToRequestUrlFilter;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sends the requests that pass Spring Cloud Gateway's chain of filters to an instance, if their route is to an upstream of the policy. */
final class UpstreamFilter implements GlobalFilter, Ordered {

    private final Upstreams upstreams;

    UpstreamFilter(Upstreams upstreams) {
        this.upstreams = upstreams;
    }

    /** After the filters that set the URI of the request. */
    @Override
    public int getOrder() {
        return RouteToRequestUrlFilter.ROUTE_TO_URL_FILTER_ORDER + 100;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        URI to = exchange.getRequiredAttribute(GATEWAY_REQUEST_URL_ATTR);
        if (!Upstreams.isNamedBy(to)) {
            return chain.filter(exchange);
        }
        LiveUpstream upstream = upstreams.noted(exchange, to);
        if (upstream == null) {
            return Mono.error(new IllegalStateException(
                    "uri: %s (expected: upstream:// and the name of an upstream of the policy)".formatted(to)));
        }
        return upstream.send(exchange, use -> {
            InstanceAddress instance = use.instance();
            exchange.getAttributes().put(GATEWAY_REQUEST_URL_ATTR, at(instance, to));
            exchange.getAttributes().remove(GATEWAY_ALREADY_ROUTED_ATTR);
            if (instance.ip() != null && !exchange.getAttributeOrDefault(PRESERVE_HOST_HEADER_ATTRIBUTE, false)) {
                use.setHost(instance.authority());
            }
            ServerHttpRequest noted = new ServerHttpRequestDecorator(exchange.getRequest()) {
                @Override
                public Flux<DataBuffer> getBody() {
                    return use.body(super.getBody());
                }
            };
            return chain.filter(exchange.mutate().request(noted).build());
        });
    }

    private static URI at(InstanceAddress instance, URI to) {
        String target = to.getRawPath() == null ? "" : to.getRawPath();
        String query = to.getRawQuery() == null ? "" : "?" + to.getRawQuery();
        return URI.create(instance.base() + target + query);
    }
}
