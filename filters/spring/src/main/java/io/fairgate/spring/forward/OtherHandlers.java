package io.fairgate.spring.forward;

import io.fairgate.spring.refusal.RefusalHandler;
import java.util.List;
import org.springframework.cloud.gateway.config.GlobalCorsProperties;
import org.springframework.cloud.gateway.filter.WeightCalculatorWebFilter;
import org.springframework.cloud.gateway.handler.RoutePredicateHandlerMapping;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.context.ApplicationContext;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.support.RouterFunctionMapping;
import org.springframework.web.reactive.handler.AbstractHandlerMapping;
import org.springframework.web.reactive.handler.AbstractUrlHandlerMapping;
import org.springframework.web.reactive.result.method.AbstractHandlerMethodMapping;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;

/** What an application may put before, or around, the handling of a route. */
final class OtherHandlers {

    /** In the metadata of a route: its settings of cross-origin requests (CORS). */
    private static final String CORS = "cors";

    private OtherHandlers() {}

    /** Whether a request may be handled, or an error be answered, by something else before its route is searched. */
    static boolean mayComeFirst(ApplicationContext context, List<Route> routes) {
        List<HandlerMapping> mappings = context.getBean(DispatcherHandler.class).getHandlerMappings();
        return mappings == null
                || !routesAreSearchedFirst(mappings)
                || !ControllerAdviceBean.findAnnotatedBeans(context).isEmpty()
                || routes.stream().anyMatch(route -> route.getMetadata().containsKey(CORS))
                || context.getBeanProvider(GlobalCorsProperties.class).stream()
                        .anyMatch(cors -> !cors.getCorsConfigurations().isEmpty());
    }

    /** Whether a filter, or a handler of errors, sees the refusal of a request before {@link RefusalHandler} answers it. */
    static boolean maySeeRefusals(ApplicationContext context) {
        return context.getBeanProvider(WebFilter.class).stream()
                        .anyMatch(filter -> filter.getClass() != WeightCalculatorWebFilter.class)
                || !(context.getBeanProvider(WebExceptionHandler.class)
                        .orderedStream()
                        .findFirst()
                        .orElse(null) instanceof RefusalHandler);
    }

    private static boolean routesAreSearchedFirst(List<HandlerMapping> mappings) {
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof AbstractHandlerMapping any && any.getApiVersionStrategy() != null) {
                return false;
            }
            if (mapping.getClass() == RoutePredicateHandlerMapping.class) {
                return true;
            }
            if (!isEmpty(mapping)) {
                return false;
            }
        }
        return false;
    }

    private static boolean isEmpty(HandlerMapping mapping) {
        if (mapping instanceof AbstractHandlerMethodMapping<?> methods) {
            return methods.getHandlerMethods().isEmpty();
        } else if (mapping instanceof AbstractUrlHandlerMapping urls) {
            return urls.getHandlerMap().isEmpty();
        }
        return mapping instanceof RouterFunctionMapping functions && functions.getRouterFunction() == null;
    }
}
