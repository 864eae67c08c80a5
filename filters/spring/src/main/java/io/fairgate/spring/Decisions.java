package io.fairgate.spring;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.DecisionLog.Decision;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;

/** Writes down what was decided against a request, whether it was enforced or not. */
final class Decisions {

    private final Refusals refusals;
    private final DecisionLog log;
    private final IdentityAudit audit;
    private final InstantSource clock;

    /** A decision, and the answer that says so. */
    record Decided(Refusal refusal, Decision decision) {}

    Decisions(Refusals refusals, DecisionLog log, IdentityAudit audit, InstantSource clock) {
        this.refusals = refusals;
        this.log = log;
        this.audit = audit;
        this.clock = clock;
    }

    /** What ends the request; null when the failure is none of ours. */
    @Nullable
    Decided against(ServerWebExchange exchange, Throwable failure) {
        return note(exchange, failure, true);
    }

    /** What would have ended the request, which goes on. */
    void onTrial(ServerWebExchange exchange, Throwable failure) {
        note(exchange, failure, false);
    }

    private @Nullable Decided note(ServerWebExchange exchange, Throwable failure, boolean enforced) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        Refusal refusal = refusals.of(failure, route != null);
        if (refusal == null) {
            return null;
        }
        TenantPolicy tenant = Exchanges.tenant(exchange);
        TenantId claimed = failure instanceof IdentityRefusedException identity ? identity.claimed() : null;
        InetAddress peer = Exchanges.peer(exchange);
        Decision decision = new Decision(
                DecisionLog.newId(),
                clock.instant(),
                refusal.status().value(),
                refusal.reason(),
                tenant == null ? null : tenant.id().value(),
                claimed == null ? null : claimed.value(),
                peer == null ? null : peer.getHostAddress(),
                route == null ? null : route.getId(),
                exchange.getRequest().getPath().value(),
                refusal.isFailure() ? failure.toString() : null,
                failure instanceof QuotaRefusedException quota ? labels(quota, enforced) : List.of(),
                enforced);
        log.add(decision);
        Exchanges.addDecision(exchange, decision);
        if (failure instanceof IdentityRefusedException identity) {
            audit.refused(decision, exchange.getRequest().getMethod(), identity.key());
        }
        return new Decided(refusal, decision);
    }

    private static List<String> labels(QuotaRefusedException failure, boolean enforced) {
        return enforced ? failure.decision().violated() : failure.decision().wouldRefuse();
    }
}
