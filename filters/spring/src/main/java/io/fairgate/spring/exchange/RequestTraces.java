package io.fairgate.spring.exchange;

import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/** Follows each request from its beginning to its end, for a system of traces. */
public interface RequestTraces {

    /** Follows nothing, and costs nothing. */
    RequestTraces NONE = new RequestTraces() {

        @Override
        public Mono<Void> trace(ServerWebExchange exchange, Mono<Void> request) {
            return request;
        }

        @Override
        public Forward trace(Forward forward) {
            return forward;
        }

        @Override
        public void within(ContextView request, Runnable recording) {
            recording.run();
        }
    };

    /**
     * The ids of a request. Clients may choose both.
     *
     * @param trace the trace that it belongs to, as 32 hexadecimal digits
     * @param request the value of {@code X-Request-Id}
     */
    record Ids(String trace, String request) {

        /** Null when requests are not traced. */
        public static @Nullable Ids of(ServerWebExchange exchange) {
            return exchange.getAttribute(Ids.class.getName());
        }

        public void keepIn(ServerWebExchange exchange) {
            exchange.getAttributes().put(Ids.class.getName(), this);
        }
    }

    /** The same request, followed from the subscription to its end. Its response is written before that. */
    Mono<Void> trace(ServerWebExchange exchange, Mono<Void> request);

    /** The same way to the upstream, followed. The upstream learns of the trace. */
    Forward trace(Forward forward);

    /**
     * Runs the recording of a meter for a request, within the trace of that, so that the meter can name it as an example.
     *
     * @param request the context in which {@link #trace(ServerWebExchange, Mono)} was subscribed to, or one that began with it
     */
    void within(ContextView request, Runnable recording);
}
