package io.fairgate.spring.fairshare;

import io.netty.handler.codec.http.HttpResponseStatus;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.websocket.WebsocketInbound;

/**
 * Treats {@code 101 Switching Protocols} as a failure of the upstream when the request did not ask for a WebSocket. If
 * the response were forwarded, the client's connection would become a tunnel, and the upstream's connection would go
 * back into the pool, where the next request waits on it for ever.
 */
final class UnaskedUpgrades {

    static final HttpClientCustomizer REFUSED = UnaskedUpgrades::refuse;

    private UnaskedUpgrades() {}

    private static HttpClient refuse(HttpClient client) {
        return client.doOnResponse(UnaskedUpgrades::refuse);
    }

    private static void refuse(HttpClientResponse response, Connection connection) {
        if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)
                && !(response instanceof WebsocketInbound)) {
            throw new UnaskedUpgradeException();
        }
    }
}
