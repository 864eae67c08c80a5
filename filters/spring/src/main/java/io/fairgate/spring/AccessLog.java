package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.DecisionLog.Decision;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;

/**
 * One record for each request that reached a route: whose it was, how long it waited, what became of it, and what was
 * decided against it, enforced or not. Off unless {@code fairgate.access-log} is on.
 */
final class AccessLog implements GlobalFilter, Ordered, DisposableBean {

    private final RecordLog records;
    private final InstantSource clock;
    private final Scheduler time;

    /** @param clock the wall clock, for when a request came */
    AccessLog(RecordLog records, InstantSource clock, Scheduler time) {
        this.records = records;
        this.clock = clock;
        this.time = time;
    }

    @Override
    public int getOrder() {
        return FilterOrder.ACCESS_LOG.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            String at = clock.instant().toString();
            long began = time.now(TimeUnit.NANOSECONDS);
            AtomicBoolean brokenOff = new AtomicBoolean();
            return chain.filter(exchange)
                    // Seen before anybody makes an answer of the failure; after it, that answer has begun as well.
                    .doOnError(failure -> brokenOff.set(exchange.getResponse().isCommitted()))
                    .doFinally(end -> write(exchange, end(end, brokenOff.get()), at, began));
        });
    }

    private static String end(SignalType end, boolean brokenOff) {
        return switch (end) {
            case ON_COMPLETE -> "done";
            case ON_ERROR -> brokenOff ? "broken-off" : "refused";
            default -> "client-left";
        };
    }

    private void write(ServerWebExchange exchange, String end, String at, long began) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("at", at);
        TenantPolicy tenant = Exchanges.tenant(exchange);
        put(entry, "tenant", tenant == null ? null : tenant.id().value());
        InetAddress peer = Exchanges.peer(exchange);
        put(entry, "peer", peer == null ? null : peer.getHostAddress());
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        put(entry, "route", route == null ? null : route.getId());
        put(entry, "pool", Exchanges.pool(exchange));
        entry.put("method", exchange.getRequest().getMethod().name());
        entry.put("path", exchange.getRequest().getPath().value());
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        put(entry, "status", status == null ? null : status.value());
        entry.put("end", end);
        entry.put("seconds", seconds(time.now(TimeUnit.NANOSECONDS) - began));
        Long waited = Exchanges.waited(exchange);
        put(entry, "waited", waited == null ? null : seconds(waited));
        List<Decision> decisions = Exchanges.decisions(exchange);
        if (!decisions.isEmpty()) {
            entry.put("decisions", decisions.stream().map(AccessLog::shown).toList());
        }
        records.add(entry);
    }

    @Override
    public void destroy() throws InterruptedException {
        records.destroy();
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

    private static void put(Map<String, Object> entry, String name, @Nullable Object value) {
        if (value != null) {
            entry.put(name, value);
        }
    }
}
