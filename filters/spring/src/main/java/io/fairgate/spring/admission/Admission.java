package io.fairgate.spring.admission;

import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.exchange.Forward;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.fairshare.FairShareRule;
import io.fairgate.spring.fairshare.PermitStep;
import io.fairgate.spring.identity.Identity;
import io.fairgate.spring.identity.TenantIdentifier;
import io.fairgate.spring.proxy.ForwardedFields;
import io.fairgate.spring.quota.QuotaStep;
import io.fairgate.spring.quota.RequestQuotas;
import io.fairgate.spring.refusal.RouteMeters;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Admits every request: identify, check quotas, wait for a permit, charge, forward, settle, release. */
public record Admission(
        GracefulShutdown shutdown,
        AmbiguousPaths paths,
        TenantIdentifier tenants,
        ForwardedFields forwarded,
        QuotaStep quotas,
        PermitStep permits,
        AccessLog accessLog,
        RouteMeters meters)
        implements GlobalFilter, Ordered {

    /**
     * Outside of {@code NettyWriteResponseFilter} (order -1), which writes the response after the filters inside it
     * have completed at the upstream's headers: only a filter outside of it sees the last byte. All filters of a higher
     * order are inside as well, so what they do is logged, and the permit is held meanwhile.
     */
    @Override
    public int getOrder() {
        return -500;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        Exchanges.addFieldsOnCommit(exchange); // Any filter, or handler of errors, may write the response.
        return handle(exchange, chain::filter);
    }

    /** Admits one request and forwards it, as {@link #admit} does, and writes its record of the access log. */
    public Mono<Void> handle(ServerWebExchange exchange, Forward forward) {
        return accessLog.record(exchange, admit(exchange, accessLog.traces().trace(forward)));
    }

    /**
     * Admits one request and forwards it. Errors with the refusal of the step that refuses it; the comment beside a
     * step gives the status. In a dry run the step notes the refusal, and the request goes on.
     */
    Mono<Void> admit(ServerWebExchange exchange, Forward forward) {
        return Mono.defer(() -> {
                    meters.received(exchange);
                    shutdown.requireRunning(exchange); // 503
                    Exchanges.setAdmitted(exchange);
                    Exchanges.keepResponseHeaders(exchange);
                    paths.requireUnambiguous(exchange); // 400
                    return tenants.require(exchange); // 400, 401, 403
                })
                .flatMap(identity -> {
                    RouteRules rules = RouteRules.of(exchange);
                    ServerWebExchange stripped = forwarded.strip(rules.strip(exchange));
                    if (!(identity instanceof Identity.Known known)) {
                        return permits.sendUnheld(stripped, forward); // A dry run: the other steps need a tenant.
                    }
                    FairShareRule share = rules.last(FairShareRule.class);
                    if (share != null) {
                        Exchanges.setPool(exchange, share.pool(), share.requestClass());
                    }
                    RequestQuotas used = quotas.of(exchange, known.tenant(), rules);
                    ServerWebExchange request = known.strip(stripped);
                    Forward charged = admitted -> quotas.charge(admitted, used, forward); // 429
                    return share == null
                            ? permits.sendUnheld(request, charged)
                            : quotas.checkBeforeWaiting(request, used, permits.mayWait(known.tenant(), share)) // 429
                                    .then(permits.hold(request, known.tenant(), share, charged)); // 429, 503
                });
    }
}
