package io.fairgate.spring;

import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.netty.http.client.HttpClient;

/** Whether anything of a request was sent upstream: not yet when its connection could not be made. */
final class SentUpstream {

    /** Has every request of the gateway's client tell when it is sent. */
    static final HttpClientCustomizer NOTED = SentUpstream::note;

    private volatile boolean sent;

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> request.currentContextView()
                .<SentUpstream>getOrEmpty(SentUpstream.class)
                .ifPresent(upstream -> upstream.sent = true));
    }

    boolean isSent() {
        return sent;
    }
}
