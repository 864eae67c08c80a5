package io.fairgate.spring.forward;

import io.micrometer.observation.Observation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.HttpWebHandlerAdapter;
import reactor.core.publisher.Mono;

/**
 * Hands a request to {@link EarlyRoutes} before Spring's handling of all requests: its filters, its observation and its
 * handlers of errors, which take thirty operators. Only if none of them is there that could see the request, apart from
 * a failure that is not Fairgate's to answer: this is handed to Spring's handlers.
 */
final class EarlyHandler extends HttpWebHandlerAdapter {

    private static final Log LOG = LogFactory.getLog(HttpWebHandlerAdapter.class);

    private final HttpWebHandlerAdapter spring;
    private final ObjectProvider<EarlyRoutes> provider;
    private volatile @Nullable EarlyRoutes early;
    private volatile boolean isObserved = true;

    EarlyHandler(HttpWebHandlerAdapter spring, ObjectProvider<EarlyRoutes> early) {
        super(spring.getDelegate());
        this.spring = spring;
        this.provider = early;
        setSessionManager(spring.getSessionManager());
        setCodecConfigurer(spring.getCodecConfigurer());
        setLocaleContextResolver(spring.getLocaleContextResolver());
        setApplicationContext(spring.getApplicationContext());
    }

    @Override
    public Mono<Void> handle(ServerHttpRequest request, ServerHttpResponse response) {
        EarlyRoutes routes = routes();
        if (isObserved || !routes.answerRefusals() || LOG.isDebugEnabled()) {
            return spring.handle(request, response);
        }
        ServerWebExchange exchange = createExchange(request, response);
        Mono<Void> handled = routes.handle(exchange);
        return handled == null
                ? spring.handle(request, response)
                : handled.onErrorResume(
                                failure -> spring.handle(new FailedRequest(request, exchange, failure), response))
                        .then(Mono.defer(response::setComplete));
    }

    private EarlyRoutes routes() {
        EarlyRoutes known = early;
        if (known == null) {
            known = provider.getObject();
            String name = spring.getObservationConvention().getName();
            isObserved = spring.getForwardedHeaderTransformer() != null
                    || spring.getDefaultHtmlEscape() != null
                    || name == null
                    || !Observation.createNotStarted(name, spring.getObservationRegistry())
                            .isNoop();
            early = known;
        }
        return known;
    }

    /** A request that has failed, on its way to the handlers of errors. */
    private static final class FailedRequest extends ServerHttpRequestDecorator {

        private final ServerWebExchange exchange;
        private final Throwable failure;

        FailedRequest(ServerHttpRequest request, ServerWebExchange exchange, Throwable failure) {
            super(request);
            this.exchange = exchange;
            this.failure = failure;
        }
    }

    /** The failure of a request that comes here for the second time; null for any other request. */
    static @Nullable Throwable failure(ServerWebExchange exchange) {
        if (exchange.getRequest() instanceof FailedRequest failed) {
            exchange.getAttributes().putAll(failed.exchange.getAttributes());
            return failed.failure;
        }
        return null;
    }
}
