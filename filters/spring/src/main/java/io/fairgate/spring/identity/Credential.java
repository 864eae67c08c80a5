package io.fairgate.spring.identity;

import io.fairgate.spring.exchange.Exchanges;
import java.net.InetAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.web.server.ServerWebExchange;

/**
 * What an {@link Authenticator} can read of a request: the header that its source declares, and the connection. It
 * cannot read another header, because credentials are removed only from headers that a source declares.
 */
final class Credential {

    private final ServerWebExchange exchange;
    private final @Nullable CredentialExtractor extractor;

    /** @param extractor null for a source that reads no header */
    Credential(ServerWebExchange exchange, @Nullable CredentialExtractor extractor) {
        this.exchange = exchange;
        this.extractor = extractor;
    }

    /** The value in the header, as {@link CredentialExtractor#value} finds it. */
    @Nullable
    String value() {
        return extractor == null ? null : extractor.value(exchange.getRequest().getHeaders());
    }

    @Nullable
    InetAddress peer() {
        return Exchanges.peer(exchange);
    }

    @Nullable
    SslInfo tls() {
        return exchange.getRequest().getSslInfo();
    }

    /** Where the request goes on after it had to wait. */
    @Nullable
    Executor eventLoop() {
        return Exchanges.eventLoop(exchange);
    }
}
