package io.fairgate.spring.admission;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.exchange.RequestTraces;
import io.fairgate.spring.exchange.RequestTraces.Ids;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.OriginalRequests;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.spring.refusal.RefusalHandler;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;

/**
 * Writes one record for each request, also for one that no route matches: its tenant, how long it waited, how it ended, and the
 * refusals, enforced or not. Off unless {@code fairgate.access-log} is on. What is recorded is also traced.
 *
 * @param records the log to write to; null when the access log is off
 * @param traces follow each request, also when the access log is off
 */
record AccessLog(
        @Nullable RecordLog records, PolicyHolder policy, RequestTraces traces, InstantSource clock, Scheduler time)
        implements DisposableBean {

    private static final String BROKEN_OFF = "broken-off";
    private static final String CLIENT_LEFT = "client-left";

    Mono<Void> record(ServerWebExchange exchange, Mono<Void> request) {
        return traces.trace(
                exchange, records == null ? request : Mono.defer(() -> recorded(exchange, request, records)));
    }

    private Mono<Void> recorded(ServerWebExchange exchange, Mono<Void> request, RecordLog log) {
        String at = clock.instant().toString();
        long began = time.now(TimeUnit.NANOSECONDS);
        AtomicReference<String> failed = new AtomicReference<>("refused");
        return request
                // Read before the failure is turned into a response: after that, a response is committed in any case.
                .doOnError(failure -> failed.set(failed(exchange, failure)))
                .doFinally(end -> log.add(entry(exchange, end(exchange, end, failed.get()), at, began)));
    }

    private static String failed(ServerWebExchange exchange, Throwable failure) {
        if (RefusalHandler.hasClientLeft(exchange, failure)) {
            return CLIENT_LEFT;
        }
        return exchange.getResponse().isCommitted() ? BROKEN_OFF : "refused";
    }

    private static String end(ServerWebExchange exchange, SignalType end, String failed) {
        return switch (end) {
            case ON_ERROR -> failed;
            // The gateway has closed the connection, because its client was too slow.
            case ON_COMPLETE -> Exchanges.isAnswered(exchange) ? BROKEN_OFF : "done";
            default -> Exchanges.isAnswered(exchange) ? BROKEN_OFF : CLIENT_LEFT;
        };
    }

    private Map<String, Object> entry(ServerWebExchange exchange, String end, String at, long began) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("at", at);
        put(entry, "tenant", Exchanges.tenant(exchange), tenant -> tenant.id().value());
        OriginalRequest original = OriginalRequests.of(exchange, policy);
        entry.put("client", original.clientText());
        put(entry, "peer", original.peerText(), peer -> peer);
        put(entry, "route", exchange.<Route>getAttribute(GATEWAY_ROUTE_ATTR), Route::getId);
        put(entry, "pool", Exchanges.pool(exchange), pool -> pool);
        List<Object> instances = Exchanges.instances(exchange);
        if (!instances.isEmpty()) {
            entry.put("instances", instances.stream().map(Object::toString).toList());
        }
        entry.put("method", exchange.getRequest().getMethod().name());
        entry.put("path", exchange.getRequest().getPath().value());
        put(entry, "status", exchange.getResponse().getStatusCode(), HttpStatusCode::value);
        entry.put("end", end);
        entry.put("seconds", seconds(time.now(TimeUnit.NANOSECONDS) - began));
        put(entry, "waited", Exchanges.waited(exchange), AccessLog::seconds);
        put(entry, "trace", Ids.of(exchange), Ids::trace);
        put(entry, "requestId", Ids.of(exchange), Ids::request);
        List<Decision> decisions = Decisions.of(exchange);
        if (!decisions.isEmpty()) {
            entry.put("decisions", decisions.stream().map(AccessLog::shown).toList());
        }
        return entry;
    }

    @Override
    public void destroy() throws InterruptedException {
        if (records != null) {
            records.destroy();
        }
    }

    private static Map<String, Object> shown(Decision decision) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("decision", decision.id());
        shown.put("reason", decision.reason());
        if (!decision.quotas().isEmpty()) {
            shown.put("quotas", decision.quotas());
        }
        shown.put("enforced", decision.enforced());
        return shown;
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e3) / 1e6;
    }

    private static <T> void put(Map<String, Object> entry, String name, @Nullable T value, Function<T, Object> shown) {
        if (value != null) {
            entry.put(name, shown.apply(value));
        }
    }
}
