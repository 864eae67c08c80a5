package io.fairgate.gateway.http;

import io.fairgate.permit.PermitRefusedException;
import io.fairgate.spring.refusal.RefusedException;
import io.netty.channel.ChannelException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.util.DisconnectedClientHelper;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Handles clients that disconnect in the middle of a request. No answer can be sent, and none is logged as an error.
 *
 * <p>Reactor Netty reports a connection reset twice: once while the body is read, and once when the request ends because of
 * it. The second error has no subscriber and is dropped, and so is a refusal that comes when the client has just left. All other
 * dropped errors are logged, as Reactor does.
 */
final class DisconnectedClients implements WebExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(DisconnectedClients.class);

    /** The context key of Reactor's handler for dropped errors ({@code Hooks}). */
    private static final String DROPPED = "reactor.onErrorDropped.local";

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (!DisconnectedClientHelper.isClientDisconnectedException(failure)) {
            return Mono.error(failure);
        }
        exchange.getResponse().setStatusCode(HttpStatus.INTERNAL_SERVER_ERROR);
        return Mono.empty();
    }

    /** Also after a slow body: Reactor Netty closes the connection, and writing the answer then fails with the same error. */
    private static boolean isOfTheClient(Throwable failure) {
        return failure instanceof ChannelException || DisconnectedClientHelper.isClientDisconnectedException(failure);
    }

    private static boolean isRefusal(Throwable failure) {
        return failure instanceof RefusedException || failure instanceof PermitRefusedException;
    }

    static Context notLogged(Context context) {
        Consumer<Throwable> dropped = failure -> {
            if (!isOfTheClient(failure) && !isRefusal(failure)) {
                log.error("An error was dropped.", failure);
            }
        };
        return context.put(DROPPED, dropped);
    }
}
