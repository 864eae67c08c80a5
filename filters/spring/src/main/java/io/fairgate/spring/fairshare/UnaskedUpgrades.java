package io.fairgate.spring.fairshare;

import io.netty.handler.codec.http.HttpResponseStatus;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.websocket.WebsocketInbound;

/**
 * Takes {@code 101 Switching Protocols} for a failure of the upstream, where no WebSocket was asked for. Forwarded, it makes a
 * tunnel of the client's connection, and the upstream's connection goes back into the pool, where the next request waits on
 * it for ever.
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
