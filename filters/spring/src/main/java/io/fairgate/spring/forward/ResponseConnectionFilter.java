package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CLIENT_RESPONSE_CONN_ATTR;

import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/**
 * Has the filters of a route dispose of the connection to the upstream only on its own event loop.
 *
 * <p>Spring Cloud Gateway disposes of the connection of a response on any thread: when the client has left, and when a
 * {@code Retry} filter tries again. When a response is complete, Reactor Netty gives its connection to the next request, and
 * separates it from the old exchange only after that. A disposal on another thread in between would close the connection of
 * the next request: that request would fail, and release its permit while the upstream works on it.
 */
final class ResponseConnectionFilter implements GlobalFilter, Ordered {

    /** Outside of every filter that disposes of the connection to the upstream. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 1002;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        Map<String, Object> attributes = new Attributes(exchange.getAttributes());
        return chain.filter(new ServerWebExchangeDecorator(exchange) {
            @Override
            public Map<String, Object> getAttributes() {
                return attributes;
            }
        });
    }

    /** The attributes of the exchange, except that the connection of a response is put in as a {@link ResponseConnection}. */
    private static final class Attributes extends AbstractMap<String, Object> {

        private final Map<String, Object> all;

        Attributes(Map<String, Object> all) {
            this.all = all;
        }

        @Override
        public @Nullable Object put(String name, Object value) {
            boolean isResponse = name.equals(CLIENT_RESPONSE_CONN_ATTR) && value instanceof Connection;
            return all.put(name, isResponse ? ResponseConnection.of((Connection) value) : value);
        }

        @Override
        public @Nullable Object get(Object name) {
            return all.get(name);
        }

        @Override
        public boolean containsKey(Object name) {
            return all.containsKey(name);
        }

        @Override
        public @Nullable Object remove(Object name) {
            return all.remove(name);
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            return all.entrySet();
        }

        // These are atomic in the map of an exchange, and must stay so.

        @Override
        public boolean remove(Object name, Object value) {
            return all.remove(name, value);
        }

        @Override
        public @Nullable Object putIfAbsent(String name, Object value) {
            return all.putIfAbsent(name, value);
        }

        @Override
        public @Nullable Object computeIfAbsent(String name, Function<? super String, ? extends Object> value) {
            return all.computeIfAbsent(name, value);
        }

        @Override
        public @Nullable Object compute(
                String name, BiFunction<? super String, ? super @Nullable Object, ? extends @Nullable Object> value) {
            return all.compute(name, value);
        }
    }
}
