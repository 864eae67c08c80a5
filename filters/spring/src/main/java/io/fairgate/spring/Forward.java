package io.fairgate.spring;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Sends an admitted request to its upstream, and completes when the last byte of the response is written. */
@FunctionalInterface
interface Forward {

    Mono<Void> send(ServerWebExchange exchange);
}
