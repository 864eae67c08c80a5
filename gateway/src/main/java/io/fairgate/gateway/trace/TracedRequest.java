package io.fairgate.gateway.trace;

import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;

/** A request with other headers: those for the upstream. */
final class TracedRequest extends ServerHttpRequestDecorator {

    private final HttpHeaders headers;

    TracedRequest(ServerHttpRequest request, HttpHeaders headers) {
        super(request);
        this.headers = headers;
    }

    @Override
    public HttpHeaders getHeaders() {
        return headers;
    }
}
