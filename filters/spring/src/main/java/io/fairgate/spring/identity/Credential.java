package io.fairgate.spring.identity;

import io.fairgate.policy.TrustedProxies;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.proxy.OriginalRequests;
import java.net.InetAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.web.server.ServerWebExchange;

/**
 * What an {@link Authenticator} can read of a request: the header that its source declares, and the addresses of the connection and of
 * the client. It cannot read another header, because credentials are removed only from headers that a source declares. Only a bean of the
 * application gets the whole request.
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

    /** The address of the connection. */
    @Nullable
    InetAddress peer() {
        return ClientConnection.peer(exchange);
    }

    /** The address of the client, which a trusted proxy may have named; null when it is not known. */
    @Nullable
    InetAddress client(TrustedProxies proxies) {
        return OriginalRequests.of(exchange, proxies).client();
    }

    @Nullable
    SslInfo tls() {
        return exchange.getRequest().getSslInfo();
    }

    /** The whole request, for a bean of the application. */
    ServerWebExchange request() {
        return exchange;
    }

    /** Where the request goes on after it had to wait. */
    @Nullable
    Executor eventLoop() {
        return ClientConnection.eventLoop(exchange);
    }
}
