package io.fairgate.spring.exchange;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Sends an admitted request to its upstream, and completes when the last byte of the response is written. */
@FunctionalInterface
public interface Forward {

    Mono<Void> send(ServerWebExchange exchange);
}
