package io.fairgate.spring;

import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import java.util.List;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Finds out which tenant a request belongs to, and refuses it when there is no answer.
 *
 * <p>A malformed name is refused before anything is looked up or kept, so inventing names costs the gateway nothing.
 */
final class TenantFilter implements GlobalFilter, Ordered {

    private final LivePolicy policy;
    private final FairgateMeters meters;

    TenantFilter(LivePolicy policy, FairgateMeters meters) {
        this.policy = policy;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.TENANT.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            try {
                Exchanges.setTenant(exchange, identify(policy.current(), exchange));
            } catch (IdentityRefusedException refused) {
                meters.identityRefused(refused.reason());
                return Mono.error(refused);
            }
            return chain.filter(exchange);
        });
    }

    private static TenantPolicy identify(Policy policy, ServerWebExchange exchange) {
        for (IdentitySource source : policy.identify()) {
            if (source instanceof IdentitySource.Header header) {
                List<String> values = exchange.getRequest().getHeaders().getOrDefault(header.name(), List.of());
                if (!values.isEmpty()) {
                    return named(policy, header, values, exchange);
                }
            }
        }
        throw new IdentityRefusedException(Reason.MISSING, null);
    }

    private static TenantPolicy named(
            Policy policy, IdentitySource.Header header, List<String> values, ServerWebExchange exchange) {
        if (values.size() != 1 || !TenantId.isWellFormed(values.get(0))) {
            throw new IdentityRefusedException(Reason.MALFORMED, null);
        }
        TenantId claimed = TenantId.of(values.get(0));
        InetAddress peer = Exchanges.peer(exchange);
        if (peer == null || !header.trusts(peer)) {
            throw new IdentityRefusedException(Reason.UNTRUSTED_PEER, claimed);
        }
        TenantPolicy tenant = policy.tenant(claimed);
        if (tenant == null) {
            throw new IdentityRefusedException(Reason.UNKNOWN_TENANT, claimed);
        }
        return tenant;
    }
}
