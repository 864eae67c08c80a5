package io.fairgate.spring.refusal;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.permit.PermitRefusedException;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.exchange.RequestTraces.Ids;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.OriginalRequests;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ServerWebExchange;

/**
 * Records the refusals and failures of requests, enforced or not, and waits that are to be explained.
 *
 * @param audit the audit log, for refusals of identities
 */
public record Decisions(
        PolicyHolder policy, DecisionLog log, RecordLog audit, RouteMeters meters, InstantSource clock) {

    private static final String ATTRIBUTE = Decisions.class.getName();
    private static final String REFUSAL = Refusal.class.getName();
    private static final String GRANTED = "granted";

    record Decided(Refusal refusal, Decision decision) {}

    /**
     * The request that a decision is about.
     *
     * @param client the address of the client, or "unknown"
     * @param peer the address of the connection; null when it is not known
     * @param route null when it has none
     * @param pool the pool of the route; null when it has none, or the tenant is not known
     * @param requestClass the class of the route's requests; null when it has none
     * @param waited its wait for permits that it was granted; null when it was granted none
     * @param ids those of its trace; null when requests are not traced
     * @param decisions the decisions about it so far
     */
    public record Origin(
            @Nullable TenantPolicy tenant,
            String client,
            @Nullable String peer,
            @Nullable String route,
            @Nullable String pool,
            @Nullable String requestClass,
            @Nullable Wait waited,
            HttpMethod method,
            String path,
            @Nullable Ids ids,
            List<Decision> decisions) {}

    /**
     * A wait for permits.
     *
     * @param nanos how long it took
     * @param endedNanos when it ended, on the clock of {@link System#nanoTime}
     */
    public record Wait(long nanos, long endedNanos) {

        static @Nullable Wait of(ServerWebExchange exchange) {
            Long nanos = Exchanges.waited(exchange);
            return nanos == null ? null : new Wait(nanos, Exchanges.waitEndedNanos(exchange));
        }
    }

    public Origin origin(ServerWebExchange exchange) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        OriginalRequest original = OriginalRequests.of(exchange, policy);
        return new Origin(
                Exchanges.tenant(exchange),
                original.clientText(),
                original.peerText(),
                route == null ? null : route.getId(),
                Exchanges.pool(exchange),
                Exchanges.requestClass(exchange),
                Wait.of(exchange),
                exchange.getRequest().getMethod(),
                exchange.getRequest().getPath().value(),
                Ids.of(exchange),
                Decisions.of(exchange));
    }

    /** The refusals and failures of the request so far, enforced or not. Thread-safe; decisions can be added. */
    @SuppressWarnings("unchecked")
    public static List<Decision> of(ServerWebExchange exchange) {
        return (List<Decision>)
                exchange.getAttributes().computeIfAbsent(ATTRIBUTE, none -> new CopyOnWriteArrayList<Decision>());
    }

    /** Notes the refusal that answers the request, whatever failure ends it. */
    public static void setRefusal(ServerWebExchange exchange, Refusal refusal) {
        exchange.getAttributes().put(REFUSAL, refusal);
    }

    /** Records the decision that ends the request; null when the failure is not one of Fairgate's to answer. */
    @Nullable
    Decided against(ServerWebExchange exchange, Throwable failure) {
        Origin request = origin(exchange);
        Refusal noted = exchange.getAttribute(REFUSAL);
        return noted == null ? note(request, failure, true) : note(request, noted, failure, true);
    }

    /** Records a decision that would have ended the request; the request goes on. */
    public void noteDryRun(Origin request, Throwable refusal) {
        note(request, refusal, false);
    }

    /**
     * Records a wait that was granted, when the request has ended.
     *
     * @param id the one that the client was given
     */
    public void noteWait(ServerWebExchange exchange, String id) {
        Origin request = origin(exchange);
        Wait wait = request.waited() == null ? new Wait(0, System.nanoTime()) : request.waited();
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        log.add(decision(request, wait, id, status == null ? 0 : status.value(), GRANTED, null, null, true));
    }

    private @Nullable Decided note(Origin request, Throwable failure, boolean enforced) {
        Refusal refusal = Refusals.of(failure, policy.current(), request.route() != null);
        return refusal == null ? null : note(request, refusal, failure, enforced);
    }

    private Decided note(Origin request, Refusal refusal, Throwable failure, boolean enforced) {
        RefusedException refused = failure instanceof RefusedException own ? own : null;
        Wait wait = wait(request, failure);
        Decision decision = decision(
                request,
                wait,
                DecisionLog.newId(),
                refusal.status().value(),
                refusal.reason(),
                refused,
                refusal.isFailure() ? failure.toString() : null,
                enforced);
        log.add(decision);
        meters.decided(decision);
        request.decisions().add(decision);
        if (refused != null && refused.isAudited()) {
            HttpMethod method = request.method();
            audit.add(() -> auditRecord(decision, method, refused.key()));
        }
        return new Decided(refusal, decision);
    }

    private Decision decision(
            Origin request,
            Wait wait,
            String id,
            int status,
            String reason,
            @Nullable RefusedException refused,
            @Nullable String cause,
            boolean enforced) {
        TenantPolicy tenant = request.tenant();
        Ids ids = request.ids();
        return new Decision(
                id,
                clock.instant(),
                status,
                reason,
                tenant == null ? null : tenant.id().value(),
                tenant == null ? null : tenant.parent(),
                refused == null ? null : refused.claimed(),
                request.client(),
                request.peer(),
                request.route(),
                request.pool(),
                request.requestClass(),
                wait.nanos() / 1e9,
                wait.endedNanos(),
                request.method().name(),
                request.path(),
                ids == null ? null : ids.trace(),
                ids == null ? null : ids.request(),
                cause,
                refused == null ? null : refused.why(),
                refused == null ? List.of() : refused.quotas(enforced),
                enforced);
    }

    private static Wait wait(Origin request, Throwable failure) {
        Wait waited = request.waited();
        return failure instanceof PermitRefusedException refused
                ? new Wait(refused.waited().toNanos(), System.nanoTime())
                : waited == null ? new Wait(0, System.nanoTime()) : waited;
    }

    /** @param key the id of the digest of the API key in the request; null when there is none */
    private static Map<String, ?> auditRecord(Decision decision, HttpMethod method, @Nullable String key) {
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        record.put("event", "identity-refused");
        record.put("at", decision.at().toString());
        record.put("decision", decision.id());
        record.put("status", decision.status());
        record.put("reason", decision.reason());
        record.put("enforced", decision.enforced());
        record.put("client", decision.client());
        record.put("peer", decision.peer());
        record.put("why", decision.why());
        record.put("claimed", decision.claimed());
        record.put("key", key);
        record.put("route", decision.route());
        record.put("method", method.name());
        record.put("path", decision.path());
        record.values().removeIf(Objects::isNull);
        return record;
    }
}
