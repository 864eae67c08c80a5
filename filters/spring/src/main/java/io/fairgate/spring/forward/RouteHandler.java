package io.fairgate.spring.forward;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.admission.Admission;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.upstream.Upstreams;
import java.util.List;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.handler.FilteringWebHandler;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Handles the requests of all routes: admits and forwards a request directly if its {@link DirectRoutes route} and the
 * request itself allow that, and otherwise hands it to Spring Cloud Gateway's chain of filters, of which the admission
 * is one.
 */
final class RouteHandler extends FilteringWebHandler {

    private final DirectRoutes routes;
    private final Upstreams upstreams;
    private final Admission admission;

    RouteHandler(
            List<GlobalFilter> globalFilters,
            GatewayProperties properties,
            DirectRoutes routes,
            Upstreams upstreams,
            Admission admission) {
        super(globalFilters, properties.isRouteFilterCacheEnabled());
        this.routes = routes;
        this.upstreams = upstreams;
        this.admission = admission;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        Route route = exchange.getRequiredAttribute(GATEWAY_ROUTE_ATTR);
        DirectRoute direct = routes.of(route);
        if (direct == null || !DirectRequest.isPossible(exchange)) {
            upstreams.note(exchange, route);
            return super.handle(DirectRequest.withoutIgnoredUpgrade(exchange));
        }
        Exchanges.addFieldsOnCommit(exchange); // A handler of errors may write the response.
        return admission.handle(exchange, direct);
    }

    @Override
    public void onApplicationEvent(RefreshRoutesEvent event) {
        super.onApplicationEvent(event);
        routes.forget();
    }
}
