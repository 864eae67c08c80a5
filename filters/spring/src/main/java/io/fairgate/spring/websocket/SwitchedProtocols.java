package io.fairgate.spring.websocket;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;

/**
 * Treats {@code 101 Switching Protocols} as a failure of the upstream unless it accepts the handshake of a WebSocket. It would
 * make a tunnel of the client's connection, and the upstream's would return to the pool, where a request hangs.
 */
final class SwitchedProtocols {

    static final HttpClientCustomizer CHECKED = client -> client.doOnResponse((response, connection) -> {
        if (response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            if (AwaitedSwitch.on(connection.channel()) == null) {
                throw new SwitchException("the upstream switched protocols, which the request did not ask for");
            }
            if (!Handshake.isAccepted(response.requestHeaders(), response.responseHeaders())) {
                throw new SwitchException(
                        "the upstream switched protocols without accepting the WebSocket's handshake");
            }
        }
    });

    private SwitchedProtocols() {}

    private static final class SwitchException extends RefusedException {

        private static final long serialVersionUID = 1L;

        SwitchException(String reason) {
            super(reason);
        }

        @Override
        public Refusal refusal(Policy policy) {
            return Refusal.UPSTREAM_LOST;
        }
    }
}
