package io.fairgate.spring;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientInfos;

/**
 * The connection on which the upstream is at work for one exchange: from the sending of the request until the whole
 * response has come.
 *
 * <p>When a client leaves, or the upstream is too slow, the exchange ends and this connection is closed, but perhaps on
 * another event loop and so a little later. If the permit went on before that, the upstream could see the next request
 * before it sees the end of this one: more at once than there are permits.
 *
 * <p>An exchange may also end between the coming of the response and the reading of its body. Nobody reads what has
 * come of it then, and Reactor Netty keeps it for a reader unless it is told that there will be none.
 */
final class UpstreamConnection {

    /** Has every request of the gateway's client leave its connection with the exchange that it belongs to. */
    static final HttpClientCustomizer NOTED = UpstreamConnection::note;

    /** Until the whole response has come. */
    private volatile @Nullable Channel channel;

    private volatile @Nullable Runnable discard;
    /** The exchange is over: what has not been sent yet must not be sent any more. */
    private volatile boolean over;

    private static HttpClient note(HttpClient client) {
        return client.doOnRequest((request, connection) -> of(request).ifPresent(upstream -> upstream.send(connection)))
                .doAfterResponseSuccess(
                        (response, connection) -> of(response).ifPresent(upstream -> upstream.channel = null));
    }

    private static Optional<UpstreamConnection> of(HttpClientInfos exchange) {
        return exchange.currentContextView().getOrEmpty(UpstreamConnection.class);
    }

    /** Either this sees that the exchange is over, or who ends it sees the connection. */
    private void send(Connection connection) {
        Channel current = connection.channel();
        channel = current;
        // Once it is over for Reactor Netty, the connection stands for nothing and disposing of it closes nothing.
        discard = () -> current.eventLoop().execute(connection::dispose);
        if (over) {
            var unused = current.close();
            throw new ClientLeftException();
        }
    }

    /**
     * Ends the exchange: closes its connection unless the whole response has come, and lets go of what has come of it
     * and was not read. Completes when the connection is closed; at once when there is none, or nothing more is to
     * come on it.
     */
    Mono<Void> closed() {
        return Mono.create(sink -> {
            over = true;
            Runnable unread = discard;
            if (unread != null) {
                unread.run();
            }
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
