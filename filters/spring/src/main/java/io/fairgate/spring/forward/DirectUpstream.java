package io.fairgate.spring.forward;

import io.fairgate.spring.upstream.InstanceAddress;
import io.fairgate.upstream.Instance;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.reactivestreams.Publisher;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClient.ResponseReceiver;
import reactor.netty.http.client.HttpClientRequest;

/** The HTTP client of one route for one address. */
final class DirectUpstream {

    private final HttpClient client;
    /** The beginning of each URI; empty when the HTTP client knows the address. */
    private final String base;

    private final BiFunction<HttpClientRequest, NettyOutbound, Publisher<Void>> send;
    /** What is the same for all requests with one method; only methods that Netty knows, because there are few. */
    private final Map<HttpMethod, ResponseReceiver<?>> senders = new ConcurrentHashMap<>();

    /** @param send writes a request */
    DirectUpstream(
            InstanceAddress to, HttpClient client, BiFunction<HttpClientRequest, NettyOutbound, Publisher<Void>> send) {
        this.send = send;
        if (Instance.isSecure(to.uri())) {
            this.client = client;
            this.base = "https://" + to.uri().getHost()
                    + (to.uri().getPort() < 0 ? "" : ":" + to.uri().getPort());
        } else {
            // With its address known, the HTTP client need not parse a URI for each request.
            InetSocketAddress address = to.socketAddress();
            this.client = client.noSSL()
                    .remoteAddress(() -> address)
                    .headers(all -> all.set(HttpHeaderNames.HOST, to.authority()));
            this.base = "";
        }
    }

    /** A request with the method and the target of a client's request. */
    ResponseReceiver<?> request(ServerHttpRequest request) {
        return sender(HttpMethod.valueOf(request.getMethod().name())).uri(base + DirectRequest.target(request));
    }

    @SuppressWarnings("ReferenceEquality") // Netty has one object for each method that it knows.
    private ResponseReceiver<?> sender(HttpMethod method) {
        return method == HttpMethod.valueOf(method.name())
                ? senders.computeIfAbsent(method, this::newSender)
                : newSender(method);
    }

    private ResponseReceiver<?> newSender(HttpMethod method) {
        return client.request(method).send(send);
    }
}
