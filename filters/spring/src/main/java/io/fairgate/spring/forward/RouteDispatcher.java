package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

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
import org.springframework.web.util.pattern.PathPattern;
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
        Refusal refusal = requests.getObject().refusalOf(exchange.getRequest());
        if (refusal != null) { // EarlyHandler has not been asked if Spring's handler is inside of another one.
            return requests.getObject().refuse(exchange, refusal);
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
                error -> requests.getObject().refuse(exchange, NO_ROUTE, error));
    }

    /** Whether nothing in the application handles such requests: no route, and no handler but that of all static files. */
    private static boolean isUnhandled(ServerWebExchange exchange, Throwable failure) {
        if (exchange.getAttribute(GATEWAY_ROUTE_ATTR) != null
                || !(failure instanceof ResponseStatusException status)
                || !status.getStatusCode().isSameCodeAs(HttpStatus.NOT_FOUND)) {
            return false;
        }
        Object pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return failure instanceof NoResourceFoundException
                ? pattern instanceof PathPattern of && of.getPatternString().equals("/**")
                : exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) == null;
    }
}
