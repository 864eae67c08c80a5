package io.fairgate.gateway.trace;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.RequestTraces.Ids;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.OriginalRequests;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.Decisions;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.SignalType;

/**
 * The span of one request. Its attributes are those of OpenTelemetry's conventions for HTTP, and {@code fairgate.…}; most are known at its
 * end. If the request waited for its permits, that is a child.
 */
final class RequestSpan {

    /** RFC 9110 and RFC 5789; a client may invent others, and each name would be another operation. */
    private static final Set<String> METHODS =
            Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH");

    private static final int SERVER_ERROR = 500;

    private final Tracer tracer;
    private final ServerWebExchange exchange;
    private final PolicyHolder policy;
    private final long epochNanos;
    private final long nanoTime;
    private final Span span;
    private final Context context;

    RequestSpan(Tracer tracer, ServerWebExchange exchange, Context parent, PolicyHolder policy) {
        this.tracer = tracer;
        this.exchange = exchange;
        this.policy = policy;
        Instant now = Instant.now();
        epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        nanoTime = System.nanoTime();
        span = tracer.spanBuilder(method())
                .setParent(parent)
                .setSpanKind(SpanKind.SERVER)
                .setStartTimestamp(epochNanos, TimeUnit.NANOSECONDS)
                .startSpan();
        context = parent.with(span);
    }

    Context context() {
        return context;
    }

    private String method() {
        String method = exchange.getRequest().getMethod().name().toUpperCase(Locale.ROOT);
        return METHODS.contains(method) ? method : "_OTHER";
    }

    /** On the clock of spans, which began with this one. */
    private long epochOf(long time) {
        return epochNanos + (time - nanoTime);
    }

    void end(SignalType end) {
        if (span.isRecording()) {
            describe(end);
            addWait();
        }
        span.end(epochOf(System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private void describe(SignalType end) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        if (route != null) {
            span.updateName(method() + " " + route.getId());
        }
        put("http.route", route == null ? null : route.getId());
        put("http.request.method", method());
        put("url.path", exchange.getRequest().getPath().value());
        put("client.address", OriginalRequests.of(exchange, policy).clientText());
        put("http.request.header.x-request-id", requestId());
        TenantPolicy tenant = Exchanges.tenant(exchange);
        put("fairgate.tenant", tenant == null ? null : tenant.id().value());
        put("fairgate.pool", Exchanges.pool(exchange));
        List<Decision> decisions = Decisions.of(exchange);
        if (!decisions.isEmpty()) {
            Decision last = decisions.get(decisions.size() - 1);
            put("fairgate.decision", last.id());
            put("fairgate.reason", last.reason());
        }
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        if (status != null) {
            span.setAttribute("http.response.status_code", status.value());
            if (status.value() >= SERVER_ERROR) {
                span.setStatus(StatusCode.ERROR);
            }
        }
        if (end == SignalType.CANCEL) {
            span.addEvent("client left");
        }
    }

    private @Nullable String requestId() {
        Ids ids = Ids.of(exchange);
        return ids == null ? null : ids.request();
    }

    private void put(String name, @Nullable String value) {
        if (value != null) {
            span.setAttribute(name, value);
        }
    }

    /** The wait for permits, whether they were granted or not. */
    private void addWait() {
        Long granted = Exchanges.waited(exchange);
        if (granted != null) {
            addWait(granted, Exchanges.waitEndedNanos(exchange), null);
            return;
        }
        for (Decision decision : Decisions.of(exchange)) {
            if (decision.enforced() && decision.waitedSeconds() > 0) {
                addWait(Math.round(1e9 * decision.waitedSeconds()), decision.waitEndedNanos(), decision.reason());
            }
        }
    }

    private void addWait(long nanos, long endedNanos, @Nullable String refusal) {
        if (nanos <= 0) {
            return;
        }
        Span wait = tracer.spanBuilder("wait for permit")
                .setParent(context)
                .setStartTimestamp(epochOf(endedNanos - nanos), TimeUnit.NANOSECONDS)
                .startSpan();
        String pool = Exchanges.pool(exchange);
        if (pool != null) {
            wait.setAttribute("fairgate.pool", pool);
        }
        TenantPolicy tenant = Exchanges.tenant(exchange);
        if (tenant != null) {
            wait.setAttribute("fairgate.tenant", tenant.id().value());
        }
        if (refusal != null) {
            wait.setAttribute("fairgate.reason", refusal);
            wait.setStatus(StatusCode.ERROR, refusal);
        }
        wait.end(epochOf(endedNanos), TimeUnit.NANOSECONDS);
    }

    // ---- the call of the upstream ----

    static void failed(Span call, Throwable failure) {
        call.recordException(failure);
        call.setStatus(StatusCode.ERROR);
    }

    static void endCall(Span call, ServerWebExchange exchange, SignalType end) {
        if (call.isRecording()) {
            List<Object> instances = Exchanges.instances(exchange);
            if (!instances.isEmpty()) {
                call.setAttribute(
                        "fairgate.instances",
                        instances.stream()
                                .map(Object::toString)
                                .reduce((a, b) -> a + ", " + b)
                                .orElse(""));
            }
            if (end == SignalType.CANCEL) {
                call.addEvent("client left");
            }
        }
        call.end();
    }
}
