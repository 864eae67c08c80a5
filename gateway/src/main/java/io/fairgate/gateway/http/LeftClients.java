package io.fairgate.gateway.http;

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
 * Clients that leave in the middle of a request. Nobody is there to be told, and nothing is wrong with the server, so that it is
 * no error in the log.
 *
 * <p>Reactor Netty tells of a connection that was reset twice, once while the body is read and once when the request ends
 * because of that; the second time goes to nobody. What else is dropped is logged as Reactor does.
 */
final class LeftClients implements WebExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(LeftClients.class);

    /** Where Reactor looks for what is done with errors that have nowhere to go ({@code Hooks}). */
    private static final String DROPPED = "reactor.onErrorDropped.local";

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (!DisconnectedClientHelper.isClientDisconnectedException(failure)) {
            return Mono.error(failure);
        }
        exchange.getResponse().setStatusCode(HttpStatus.INTERNAL_SERVER_ERROR);
        return Mono.empty();
    }

    /** Reactor Netty closes a connection after a body that took too long, which whoever answers to that is told again. */
    private static boolean isOfTheClient(Throwable failure) {
        return SlowBodyException.is(failure) || DisconnectedClientHelper.isClientDisconnectedException(failure);
    }

    static Context notLogged(Context context) {
        Consumer<Throwable> dropped = failure -> {
            if (!isOfTheClient(failure)) {
                log.error("An error was dropped.", failure);
            }
        };
        return context.put(DROPPED, dropped);
    }
}
