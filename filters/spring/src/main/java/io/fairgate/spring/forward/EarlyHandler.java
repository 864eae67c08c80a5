package io.fairgate.spring.forward;

import io.fairgate.spring.refusal.RefusalHandler;
import io.micrometer.observation.Observation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
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
 * answer goes the whole way through Spring's handling, to its handlers of errors.
 */
final class EarlyHandler extends HttpWebHandlerAdapter {

    private static final Log LOG = LogFactory.getLog(HttpWebHandlerAdapter.class);

    private final HttpWebHandlerAdapter spring;
    private final ObjectProvider<EarlyRoutes> routes;
    private final ObjectProvider<RefusalHandler> refusals;
    private volatile @Nullable Early early;

    /**
     * What is known at the first request, when all beans exist.
     *
     * @param isEnough whether Spring's handling would do no more
     */
    private record Early(EarlyRoutes routes, RefusalHandler refusals, boolean isEnough) {}

    EarlyHandler(
            HttpWebHandlerAdapter spring, ObjectProvider<EarlyRoutes> routes, ObjectProvider<RefusalHandler> refusals) {
        super(spring.getDelegate());
        this.spring = spring;
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
        if (!now.isEnough || LOG.isDebugEnabled()) { // Spring logs each request there.
            return spring.handle(request, response);
        }
        ServerWebExchange exchange = createExchange(request, response);
        Mono<Void> handled = handle(exchange, now.routes);
        return handled == null
                ? spring.handle(request, response)
                : handled.onErrorResume(failure -> answer(exchange, failure, now.refusals))
                        .then(Mono.defer(response::setComplete));
    }

    private static @Nullable Mono<Void> handle(ServerWebExchange exchange, EarlyRoutes routes) {
        try {
            return routes.handle(exchange);
        } catch (RuntimeException failure) {
            return Mono.error(failure); // As Spring does; Reactor Netty would close the connection.
        }
    }

    private Mono<Void> answer(ServerWebExchange exchange, Throwable failure, RefusalHandler refusals) {
        exchange.getAttributes().put(ExceptionHandlingWebHandler.HANDLED_WEB_EXCEPTION, failure);
        return refusals.handle(exchange, failure)
                .onErrorResume(other -> spring.handle(new FailedRequest(exchange, other), exchange.getResponse()));
    }

    /** Whether nothing sees a refusal before it is answered here. */
    boolean answersRefusals() {
        return early().isEnough;
    }

    private Early early() {
        Early known = early;
        if (known == null) {
            known = new Early(routes.getObject(), refusals.getObject(), isEnough());
            early = known;
        }
        return known;
    }

    private boolean isEnough() {
        return spring.getForwardedHeaderTransformer() == null
                && spring.getDefaultHtmlEscape() == null
                && !isObserved()
                && isOnlyDispatched();
    }

    private boolean isObserved() {
        String name = spring.getObservationConvention().getName();
        return name == null
                || !Observation.createNotStarted(name, spring.getObservationRegistry())
                        .isNoop();
    }

    private boolean isOnlyDispatched() {
        WebHandler handler = spring.getDelegate();
        while (handler instanceof WebHandlerDecorator decorator) {
            boolean doesNothing = decorator instanceof ExceptionHandlingWebHandler handling
                    ? refusalsComeFirst(handling)
                    : decorator instanceof FilteringWebHandler filtering
                            && filtering.getFilters().isEmpty();
            if (!doesNothing) {
                return false;
            }
            handler = decorator.getDelegate();
        }
        return handler instanceof RouteDispatcher;
    }

    private static boolean refusalsComeFirst(ExceptionHandlingWebHandler handling) {
        for (WebExceptionHandler handler : handling.getExceptionHandlers()) {
            // Spring's own, which only adds to the failure where it happened.
            if (handler.getClass().getEnclosingClass() != ExceptionHandlingWebHandler.class) {
                return handler instanceof RefusalHandler;
            }
        }
        return false;
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

    /** The failure of a request that has been handled here; null for any other request. */
    static @Nullable Throwable failure(ServerWebExchange exchange) {
        if (exchange.getRequest() instanceof FailedRequest failed) {
            exchange.getAttributes().putAll(failed.exchange.getAttributes());
            return failed.failure;
        }
        return null;
    }
}
