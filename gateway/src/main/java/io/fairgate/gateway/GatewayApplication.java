package io.fairgate.gateway;

import java.util.List;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;

/** What the program adds to Boot and to our own starter: the routes of the policy file, and their check. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class GatewayApplication {

    @Bean
    RouteCheck routeCheck(
            PolicyRoutes routes,
            List<GatewayFilterFactory<?>> filters,
            List<RoutePredicateFactory<?>> predicates,
            RouteLocator locator,
            ConfigurationService arguments) {
        return new RouteCheck(routes, filters, predicates, locator, arguments);
    }
}
