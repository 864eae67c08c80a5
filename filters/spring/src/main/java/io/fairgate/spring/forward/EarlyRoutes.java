package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_PREDICATE_ROUTE_ATTR;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.admission.Admission;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.route.CachingRouteLocator;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Finds the route of a request before Spring's dispatching, which asks each source of handlers in turn, if the result is
 * the same.
 */
final class EarlyRoutes {

    private final ApplicationContext context;
    private final RouteLocator locator;
    private final DirectRoutes directRoutes;
    private final Admission admission;
    /** In their order, up to the first one whose predicates are not known; empty if other handlers may come first. */
    private volatile List<Route> routes = List.of();

    EarlyRoutes(ApplicationContext context, RouteLocator locator, DirectRoutes directRoutes, Admission admission) {
        this.context = context;
        this.locator = locator;
        this.directRoutes = directRoutes;
        this.admission = admission;
    }

    /** First of all listeners: the others may tell the operator that the new routes are in force. */
    @EventListener(RefreshRoutesResultEvent.class)
    @Order(Ordered.HIGHEST_PRECEDENCE)
    void changed(RefreshRoutesResultEvent event) {
        if (event.isSuccess() && locator instanceof CachingRouteLocator) {
            var unused = locator.getRoutes()
                    .collectList()
                    .subscribe(all -> routes =
                            OtherHandlers.mayComeFirst(context, all) ? List.of() : KnownPredicates.firstOf(all));
        }
    }

    /**
     * Admits and forwards a request; null when it must be dispatched as usual. The caller answers a failure, with the
     * fields that are noted for the response.
     */
    @Nullable
    Mono<Void> handle(ServerWebExchange exchange) {
        List<Route> now = routes;
        boolean mayMatch = !now.isEmpty()
                && DirectRequest.isPossible(exchange)
                && !CorsUtils.isPreFlightRequest(exchange.getRequest());
        Route route = mayMatch ? first(now, exchange) : null;
        DirectRoute direct = route == null ? null : directRoutes.of(route);
        if (route == null || direct == null) {
            return null;
        }
        exchange.getAttributes().put(GATEWAY_ROUTE_ATTR, route);
        return admission.handle(exchange, direct);
    }

    /** The first route that matches; null when another route may match. */
    private static @Nullable Route first(List<Route> routes, ServerWebExchange exchange) {
        try {
            for (int i = 0; i < routes.size(); i++) {
                Route route = routes.get(i);
                exchange.getAttributes().put(GATEWAY_PREDICATE_ROUTE_ATTR, route.getId());
                if (KnownPredicates.match(route, exchange)) {
                    return route;
                }
            }
            return null;
        } catch (RuntimeException e) {
            return null; // When it is dispatched as usual, Spring Cloud Gateway logs this.
        } finally {
            exchange.getAttributes().remove(GATEWAY_PREDICATE_ROUTE_ATTR);
        }
    }
}
