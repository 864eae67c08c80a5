package io.fairgate.spring;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.client.WebSocketClient;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;

/**
 * Makes an exchange that holds a permit last as long as its WebSocket. By itself it ends with the handshake: Reactor
 * Netty completes the request then, and runs the session on the side.
 */
final class HeldWebSockets implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof WebSocketService service && !(bean instanceof Holding)) {
            return new Holding(service);
        }
        return bean instanceof WebSocketClient client && !(bean instanceof Following) ? new Following(client) : bean;
    }

    /**
     * Ends a session when the upstream has gone. Without this it lasts until the client leaves as well, for each
     * direction is proxied by itself. The pause lets the upstream's close frame reach the client first.
     */
    private record Following(WebSocketClient client) implements WebSocketClient {

        private static final Duration FAREWELL = Duration.ofSeconds(1);

        @Override
        public Mono<Void> execute(URI url, WebSocketHandler handler) {
            return client.execute(url, following(handler));
        }

        @Override
        public Mono<Void> execute(URI url, HttpHeaders headers, WebSocketHandler handler) {
            return client.execute(url, headers, following(handler));
        }

        private static WebSocketHandler following(WebSocketHandler handler) {
            return new WebSocketHandler() {
                @Override
                public List<String> getSubProtocols() {
                    return handler.getSubProtocols();
                }

                @Override
                public Mono<Void> handle(WebSocketSession upstream) {
                    Mono<Void> gone = upstream.closeStatus()
                            .onErrorComplete()
                            .then(Mono.delay(FAREWELL))
                            .then();
                    return Mono.firstWithSignal(handler.handle(upstream), gone);
                }
            };
        }
    }

    private record Holding(WebSocketService service) implements WebSocketService {

        @Override
        public Mono<Void> handleRequest(ServerWebExchange exchange, WebSocketHandler handler) {
            if (!Exchanges.holdsPermit(exchange)) {
                return service.handleRequest(exchange, handler);
            }
            Sinks.Empty<Void> ended = Sinks.empty();
            Connection client = Exchanges.connection(exchange);
            if (client != null) {
                // Also when the connection is lost before the session begins.
                client.channel().closeFuture().addListener(closed -> ended.tryEmitEmpty());
            }
            return service.handleRequest(exchange, new Ending(handler, ended))
                    .then(ended.asMono())
                    .doOnCancel(() -> close(client));
        }

        /** The permit is taken away, so what it was for has to end. */
        private static void close(@Nullable Connection client) {
            if (client != null) {
                var unused = client.channel().close();
            }
        }
    }

    private record Ending(WebSocketHandler handler, Sinks.Empty<Void> ended) implements WebSocketHandler {

        @Override
        public List<String> getSubProtocols() {
            return handler.getSubProtocols();
        }

        @Override
        public Mono<Void> handle(WebSocketSession session) {
            return handler.handle(session).doFinally(end -> ended.tryEmitEmpty());
        }
    }
}
