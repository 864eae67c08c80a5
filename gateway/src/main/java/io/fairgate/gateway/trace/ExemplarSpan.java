package io.fairgate.gateway.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import org.jspecify.annotations.Nullable;

/** Names the current span of OpenTelemetry to the meters of Prometheus, which add it to a value as an exemplar, if it is sent to the collector. */
final class ExemplarSpan implements io.prometheus.metrics.tracer.common.SpanContext {

    private static SpanContext current() {
        return Span.current().getSpanContext();
    }

    @Override
    public @Nullable String getCurrentTraceId() {
        return current().isValid() ? current().getTraceId() : null;
    }

    @Override
    public @Nullable String getCurrentSpanId() {
        return current().isValid() ? current().getSpanId() : null;
    }

    @Override
    public boolean isCurrentSpanSampled() {
        return current().isSampled();
    }

    @Override
    public void markCurrentSpanAsExemplar() {} // All spans that are sampled are sent.
}
