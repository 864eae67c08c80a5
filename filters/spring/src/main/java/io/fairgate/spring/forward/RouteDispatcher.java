package io.fairgate.spring.forward;

import io.fairgate.spring.exchange.Exchanges;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cloud.gateway.filter.WeightCalculatorWebFilter;
import org.springframework.context.ApplicationContext;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Hands a request to {@link EarlyRoutes}, and dispatches it as Spring does if it is not one of theirs. Only then it needs
 * the weights that Spring Cloud Gateway draws for {@code Weight} predicates.
 */
final class RouteDispatcher extends DispatcherHandler {

    private final ObjectProvider<EarlyRoutes> early;
    private final ObjectProvider<WeightCalculatorWebFilter> weights;

    RouteDispatcher(
            ApplicationContext context,
            ObjectProvider<EarlyRoutes> early,
            ObjectProvider<WeightCalculatorWebFilter> weights) {
        super(context);
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
        return drawing == null ? super.handle(exchange) : drawing.filter(exchange, super::handle);
    }
}
