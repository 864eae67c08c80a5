package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.Exchanges;
import java.util.List;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketSession;
import org.springframework.web.reactive.socket.server.WebSocketService;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.Connection;

/**
 * Makes an admitted exchange last as long as its WebSocket, so that the permit is held and the charge stays open.
 * Without this it ends with the handshake, before anything was sent upstream, and the session runs separately.
 */
final class HeldWebSockets implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        return bean instanceof WebSocketService service && !(bean instanceof Holding) ? new Holding(service) : bean;
    }

    private record Holding(WebSocketService service) implements WebSocketService {

        @Override
        public Mono<Void> handleRequest(ServerWebExchange exchange, WebSocketHandler handler) {
            if (!Exchanges.isAdmitted(exchange)) {
                return service.handleRequest(exchange, handler);
            }
            Sinks.Empty<Void> ended = Sinks.empty();
            Connection client = Exchanges.connection(exchange);
            // The exchange also ends when the connection is lost before the session begins.
            Mono<Void> closed = client == null ? Mono.never() : client.onDispose();
            return service.handleRequest(exchange, new Ending(handler, ended))
                    .then(Mono.firstWithSignal(ended.asMono(), closed))
                    // The session must not outlive its permit.
                    .doOnCancel(() -> Exchanges.close(exchange));
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
