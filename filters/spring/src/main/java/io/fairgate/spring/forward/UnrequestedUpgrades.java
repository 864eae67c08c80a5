package io.fairgate.spring.forward;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.http.websocket.WebsocketInbound;

/**
 * Treats {@code 101 Switching Protocols} as a failure of the upstream unless the request asked for a WebSocket. It
 * would make a tunnel of the client's connection, and the upstream's would return to the pool, where a request hangs.
 */
final class UnrequestedUpgrades {

    static final HttpClientCustomizer REFUSED = client -> client.doOnResponse((response, connection) -> {
        if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)
                && !(response instanceof WebsocketInbound)) {
            throw new UnrequestedUpgradeException();
        }
    });

    private UnrequestedUpgrades() {}

    private static final class UnrequestedUpgradeException extends RefusedException {

        private static final long serialVersionUID = 1L;

        UnrequestedUpgradeException() {
            super("the upstream switched protocols, which the request did not ask for");
        }

        @Override
        public Refusal refusal(Policy policy) {
            return Refusal.UPSTREAM_LOST;
        }
    }
}
