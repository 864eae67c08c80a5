package io.fairgate.spring;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;

/**
 * The connection on which the upstream is at work for one exchange: from the sending of the request until the whole
 * response has come.
 *
 * <p>When a client leaves, or the upstream is too slow, the exchange ends and this connection is closed, but perhaps on
 * another event loop and so a little later. If the permit went on before that, the upstream could see the next request
 * before it sees the end of this one: more at once than there are permits.
 */
final class UpstreamConnection {

    /** Has every request of the gateway's client leave its connection with the exchange that it belongs to. */
    static final HttpClientCustomizer NOTED = UpstreamConnection::note;

    private volatile @Nullable Channel channel;

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> set(request, connection.channel()))
                .doAfterResponseSuccess((response, connection) -> set(response, null));
    }

    private static void set(HttpClientInfos exchange, @Nullable Channel channel) {
        exchange.currentContextView()
                .<UpstreamConnection>getOrEmpty(UpstreamConnection.class)
                .ifPresent(upstream -> upstream.channel = channel);
    }

    /** Completes when the connection is closed; at once when there is none, or nothing more is to come on it. */
    Mono<Void> closed() {
        return Mono.create(sink -> {
            Channel current = channel;
            if (current == null) {
                sink.success();
            } else {
                ChannelFutureListener listener = closed -> sink.success();
                current.closeFuture().addListener(listener);
                sink.onDispose(() -> current.closeFuture().removeListener(listener));
            }
        });
    }
}
