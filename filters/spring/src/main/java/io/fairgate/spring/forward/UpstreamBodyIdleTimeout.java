package io.fairgate.spring.forward;

import io.netty.handler.timeout.ReadTimeoutHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.websocket.WebsocketInbound;

/**
 * Limits how long an upstream may send nothing in the middle of a body, except of a WebSocket. The gateway's own
 * {@code response-timeout} ends with the headers, so a stalled upstream would hold its permit until {@code max-hold}.
 */
record UpstreamBodyIdleTimeout(Duration idle) implements HttpClientCustomizer {

    private static final String HANDLER = "fairgate.body-idle";

    @Override
    public HttpClient customize(HttpClient client) {
        return client.doOnResponse((response, upstream) -> {
            if (!(response instanceof WebsocketInbound)) {
                // Reactor Netty removes the handler when the exchange on this connection is over.
                upstream.addHandlerLast(HANDLER, new ReadTimeoutHandler(idle.toNanos(), TimeUnit.NANOSECONDS));
            }
        });
    }
}
