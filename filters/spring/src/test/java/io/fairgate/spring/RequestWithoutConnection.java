package io.fairgate.spring;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import reactor.core.publisher.Flux;

/** A request that Reactor Netty does not serve. Spring's mock throws if its native request is asked for. */
public class RequestWithoutConnection extends AbstractServerHttpRequest {

    public RequestWithoutConnection(HttpMethod method, HttpHeaders headers) {
        super(method, URI.create("/x"), null, headers);
    }

    @Override
    public Flux<DataBuffer> getBody() {
        return Flux.empty();
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as it is declared there
    public <T> T getNativeRequest() {
        return (T) this;
    }

    @Override
    protected MultiValueMap<String, HttpCookie> initCookies() {
        return new LinkedMultiValueMap<>();
    }

    @Override
    protected @Nullable SslInfo initSslInfo() {
        return null;
    }
}
