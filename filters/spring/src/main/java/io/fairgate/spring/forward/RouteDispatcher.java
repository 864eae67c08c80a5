package io.fairgate.spring.forward;

import io.fairgate.spring.admission.StrictRequests;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.refusal.Refusal;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cloud.gateway.filter.WeightCalculatorWebFilter;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.resource.NoResourceFoundException;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Hands a request to {@link EarlyRoutes}, and dispatches it as Spring does if it is not one of theirs. Only then it needs
 * the weights that Spring Cloud Gateway draws for {@code Weight} predicates. A request that nothing handles is refused with 404.
 */
final class RouteDispatcher extends DispatcherHandler {

    private static final Refusal NO_ROUTE =
            Refusal.of(HttpStatus.NOT_FOUND, "no-route", "No route of the gateway matches the request.");

    private final ObjectProvider<StrictRequests> requests;
    private final ObjectProvider<EarlyRoutes> early;
    private final ObjectProvider<WeightCalculatorWebFilter> weights;

    RouteDispatcher(
            ApplicationContext context,
            ObjectProvider<StrictRequests> requests,
            ObjectProvider<EarlyRoutes> early,
            ObjectProvider<WeightCalculatorWebFilter> weights) {
        super(context);
        this.requests = requests;
        this.early = early;
        this.weights = weights;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        Throwable failure = EarlyHandler.restoreFailed(exchange);
        if (failure != null) {
            return Mono.error(failure);
        }
        Mono<Void> handled = early.getObject().handle(exchange);
        if (handled != null) {
            Exchanges.addFieldsOnCommit(exchange); // A handler of errors may write the response.
            return handled;
        }
        WeightCalculatorWebFilter drawing = weights.getIfAvailable();
        Mono<Void> dispatched = drawing == null ? super.handle(exchange) : drawing.filter(exchange, super::handle);
        return dispatched.onErrorResume(
                error -> isUnhandled(exchange, error),
                error -> requests.getObject().refuse(exchange, NO_ROUTE));
    }

    /** Whether nothing in the application handles such requests, neither a route nor a handler of its own. */
    private static boolean isUnhandled(ServerWebExchange exchange, Throwable failure) {
        return failure instanceof NoResourceFoundException
                || (failure instanceof ResponseStatusException status
                        && status.getStatusCode().isSameCodeAs(HttpStatus.NOT_FOUND)
                        && exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) == null);
    }
}
