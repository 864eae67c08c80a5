package io.fairgate.gateway.library;

import io.fairgate.spring.identity.TenantResolver;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A way of the library to identify tenants. */
public final class AccountResolver implements TenantResolver {

    @Override
    public Mono<String> resolve(ServerWebExchange exchange) {
        return Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Account"));
    }
}
