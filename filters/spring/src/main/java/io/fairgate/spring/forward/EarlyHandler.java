package io.fairgate.spring.forward;

import io.fairgate.spring.admission.StrictRequests;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalHandler;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.adapter.HttpWebHandlerAdapter;
import org.springframework.web.server.handler.ExceptionHandlingWebHandler;
import org.springframework.web.server.handler.FilteringWebHandler;
import org.springframework.web.server.handler.WebHandlerDecorator;
import reactor.core.publisher.Mono;

/**
 * Hands a request to {@link EarlyRoutes} before Spring's handling of all requests, which takes thirty operators, and has a
 * refusal answered right there. Only if Spring's handling would do no more: the application has no filter of requests, no
 * handler of errors before {@link RefusalHandler}, and nothing observes requests. A failure that is not Fairgate's to
 * answer goes through Spring's handling, to its handlers of errors.
 */
final class EarlyHandler extends HttpWebHandlerAdapter {

    private static final String OBSERVE = "management.observations.enable.";

    private static final Log LOG = LogFactory.getLog(HttpWebHandlerAdapter.class);

    private final HttpWebHandlerAdapter spring;
    private final Environment environment;
    private final ObjectProvider<StrictRequests> strict;
    private final ObjectProvider<EarlyRoutes> routes;
    private final ObjectProvider<RefusalHandler> refusals;
    private volatile @Nullable Early early;

    /**
     * What is known when all beans exist.
     *
     * @param whyNot what Spring's handling would do more; null for nothing
     */
    private record Early(
            StrictRequests strict,
            EarlyRoutes routes,
            RefusalHandler refusals,
            @Nullable String whyNot) {}

    EarlyHandler(
            HttpWebHandlerAdapter spring,
            Environment environment,
            ObjectProvider<StrictRequests> strict,
            ObjectProvider<EarlyRoutes> routes,
            ObjectProvider<RefusalHandler> refusals) {
        super(spring.getDelegate());
        this.spring = spring;
        this.environment = environment;
        this.strict = strict;
        this.routes = routes;
        this.refusals = refusals;
        setSessionManager(spring.getSessionManager());
        setCodecConfigurer(spring.getCodecConfigurer());
        setLocaleContextResolver(spring.getLocaleContextResolver());
        setApplicationContext(spring.getApplicationContext());
    }

    @Override
    public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
        Early now = early();
        Refusal refusal = now.strict.refusalOf(request);
        if (refusal != null) {
            ServerWebExchange exchange = createExchange(request, response);
            return answered(exchange, now.strict.refuse(exchange, refusal), now);
        }
        if (now.whyNot != null || LOG.isDebugEnabled()) { // At debug level, Spring's handling logs each request.
            return spring.handle(request, response);
        }
        ServerWebExchange exchange = createExchange(request, response);
        Mono<Void> handled = handle(exchange, now.routes);
        return handled == null ? spring.handle(request, response) : answered(exchange, handled, now);
    }

    private Mono<Void> answered(ServerWebExchange exchange, Mono<Void> handled, Early now) {
        return handled.onErrorResume(failure -> answer(exchange, failure, now.refusals))
                .then(Mono.defer(exchange.getResponse()::setComplete));
    }

    private static @Nullable Mono<Void> handle(ServerWebExchange exchange, EarlyRoutes routes) {
        try {
            return routes.handle(exchange);
        } catch (Throwable failure) {
            return Mono.error(failure); // As Spring does; Reactor Netty would close the connection.
        }
    }

    private Mono<Void> answer(ServerWebExchange exchange, Throwable failure, RefusalHandler refusals) {
        exchange.getAttributes().put(ExceptionHandlingWebHandler.HANDLED_WEB_EXCEPTION, failure);
        return Mono.defer(() -> refusals.handle(exchange, failure))
                .onErrorResume(other -> spring.handle(new FailedRequest(exchange, other), exchange.getResponse()));
    }

    /** Why requests go through Spring's handling first, and refusals as well; null if they do not. */
    @Nullable
    String whyNot() {
        return early().whyNot;
    }

    private Early early() {
        Early known = early;
        if (known == null) {
            known = new Early(strict.getObject(), routes.getObject(), refusals.getObject(), whatSpringDoes());
            early = known;
        }
        return known;
    }

    private @Nullable String whatSpringDoes() {
        if (spring.getForwardedHeaderTransformer() != null) {
            return "it reads forwarded headers";
        }
        if (spring.getDefaultHtmlEscape() != null) {
            return "it has a setting of HTML escapes";
        }
        return isObserved() ? "requests are observed" : whatItsHandlersDo();
    }

    /** Not asked of the predicates of observations: they decide for each request. Boot's own reads this property. */
    private boolean isObserved() {
        return !spring.getObservationRegistry().isNoop()
                && environment.getProperty(
                        OBSERVE + spring.getObservationConvention().getName(), Boolean.class, true);
    }

    /** Compares exact classes: a subclass may do something else. */
    private @Nullable String whatItsHandlersDo() {
        WebHandler handler = spring.getDelegate();
        while (handler instanceof WebHandlerDecorator decorator) {
            Object other = decorator;
            if (decorator.getClass() == ExceptionHandlingWebHandler.class) {
                other = firstOf(((ExceptionHandlingWebHandler) decorator).getExceptionHandlers());
            } else if (decorator.getClass() == FilteringWebHandler.class) {
                List<WebFilter> filters = ((FilteringWebHandler) decorator).getFilters();
                other = filters.isEmpty() ? null : filters.get(0);
            }
            if (other != null) {
                return "of " + other.getClass().getName();
            }
            handler = decorator.getDelegate();
        }
        return handler instanceof RouteDispatcher
                ? null
                : "of " + handler.getClass().getName();
    }

    /** The first handler of errors; null if this is ours. Spring's own only adds to the failure where it happened. */
    private static @Nullable Object firstOf(List<WebExceptionHandler> handlers) {
        for (WebExceptionHandler handler : handlers) {
            if (handler.getClass().getEnclosingClass() != ExceptionHandlingWebHandler.class) {
                return handler instanceof RefusalHandler ? null : handler;
            }
        }
        return handlers;
    }

    /**
     * The failure of a request that was handled here and now goes through Spring's handling, in an exchange that gets the
     * attributes of the first one; null for any other request.
     */
    static @Nullable Throwable restoreFailed(ServerWebExchange exchange) {
        if (exchange.getRequest() instanceof FailedRequest failed) {
            exchange.getAttributes().putAll(failed.exchange.getAttributes());
            return failed.failure;
        }
        return null;
    }

    /** A request that has failed, on its way to Spring's handlers of errors. */
    private static final class FailedRequest extends ServerHttpRequestDecorator {

        private final ServerWebExchange exchange;
        private final Throwable failure;

        FailedRequest(ServerWebExchange exchange, Throwable failure) {
            super(exchange.getRequest());
            this.exchange = exchange;
            this.failure = failure;
        }
    }
}
