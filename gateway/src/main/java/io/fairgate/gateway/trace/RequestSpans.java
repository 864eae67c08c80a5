package io.fairgate.gateway.trace;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RequestTraces;
import io.fairgate.spring.policy.PolicyHolder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Makes the span of each request, in the trace that the client's {@code traceparent} names (W3C Trace Context), or in a new one. The
 * upstream gets the span of the call to it as {@code traceparent}. A client also chooses {@code X-Request-Id}, if it is short and visible
 * ASCII; otherwise it is the id of the trace. The upstream and the client both get it.
 */
final class RequestSpans implements RequestTraces {

    static final String REQUEST_ID = "X-Request-Id";

    private static final TextMapPropagator CONTEXT = W3CTraceContextPropagator.getInstance();
    private static final Pattern ID = Pattern.compile("[!-~]{1,128}");
    private static final String SPAN = RequestSpan.class.getName();

    private final Tracer tracer;
    private final PolicyHolder policy;

    RequestSpans(Tracer tracer, PolicyHolder policy) {
        this.tracer = tracer;
        this.policy = policy;
    }

    @Override
    public Mono<Void> trace(ServerWebExchange exchange, Mono<Void> request) {
        return Mono.defer(() -> {
            if (exchange.getAttribute(SPAN) != null) {
                return request; // It passes the admission a second time.
            }
            RequestSpan span = begin(exchange);
            return request.doFinally(span::end).contextWrite(context -> context.put(SPAN, span));
        });
    }

    private RequestSpan begin(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        Context parent = CONTEXT.extract(Context.root(), headers, OneValue.INSTANCE);
        RequestSpan span = new RequestSpan(tracer, exchange, parent, policy);
        exchange.getAttributes().put(SPAN, span);
        String trace = Span.fromContext(span.context()).getSpanContext().getTraceId();
        String named = OneValue.INSTANCE.get(headers, REQUEST_ID);
        String id = named != null && ID.matcher(named).matches() ? named : trace;
        new Ids(trace, id).keepIn(exchange);
        Exchanges.noteFields(exchange, fields -> fields.set(REQUEST_ID, id));
        return span;
    }

    @Override
    public Forward trace(Forward forward) {
        return exchange -> {
            RequestSpan span = exchange.getAttribute(SPAN);
            return span == null ? forward.send(exchange) : send(exchange, span, forward);
        };
    }

    /** The span is the current one of OpenTelemetry meanwhile. */
    @Override
    public void within(ContextView request, Runnable recording) {
        RequestSpan span = request.getOrDefault(SPAN, null);
        if (span == null) {
            recording.run(); // A lease, for instance.
        } else {
            span.context().wrap(recording).run();
        }
    }

    private Mono<Void> send(ServerWebExchange exchange, RequestSpan request, Forward forward) {
        return Mono.defer(() -> {
            Span call = tracer.spanBuilder("upstream")
                    .setParent(request.context())
                    .setSpanKind(SpanKind.CLIENT)
                    .startSpan();
            HttpHeaders headers = new HttpHeaders();
            headers.putAll(exchange.getRequest().getHeaders());
            CONTEXT.fields().forEach(headers::remove);
            CONTEXT.inject(request.context().with(call), headers, (to, name, value) -> {
                if (to != null) {
                    to.set(name, value);
                }
            });
            Ids ids = Ids.of(exchange);
            if (ids != null) {
                headers.set(REQUEST_ID, ids.request());
            }
            ServerWebExchange traced = exchange.mutate()
                    .request(new TracedRequest(exchange.getRequest(), headers))
                    .build();
            return forward.send(traced)
                    .doOnError(failure -> RequestSpan.failed(call, failure))
                    .doFinally(end -> RequestSpan.endCall(call, exchange, end));
        });
    }

    /** A field with several lines is not valid, and counts as missing. */
    private enum OneValue implements TextMapGetter<HttpHeaders> {
        INSTANCE;

        @Override
        public Iterable<String> keys(HttpHeaders headers) {
            return List.copyOf(headers.headerNames());
        }

        @Override
        public @Nullable String get(@Nullable HttpHeaders headers, String name) {
            List<String> values = headers == null ? List.of() : headers.getOrEmpty(name);
            return values.size() == 1 ? values.get(0) : null;
        }
    }
}
