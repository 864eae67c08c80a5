package io.fairgate.spring;

import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Lets a request go on as its tenant's, and refuses it when it is nobody's; while the policy is on trial that goes on as
 * it came, and takes no part in quotas and pools.
 *
 * <p>From here on it carries no credential that the upstream is not to have, so that no filter of a route and no log
 * sees it either. The header that names the tenant upstream comes last of all, from {@link UpstreamIdentity}.
 */
final class TenantFilter implements GlobalFilter, Ordered {

    private final TenantIdentifier identifier;
    private final LivePolicy policy;
    private final Decisions decisions;
    private final FairgateMeters meters;

    TenantFilter(TenantIdentifier identifier, LivePolicy policy, Decisions decisions, FairgateMeters meters) {
        this.identifier = identifier;
        this.policy = policy;
        this.decisions = decisions;
        this.meters = meters;
    }

    @Override
    public int getOrder() {
        return FilterOrder.TENANT.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return identifier.identify(exchange).flatMap(identity -> {
            if (identity instanceof Identity.Known known) {
                return chain.filter(withoutCredentials(exchange, known.by()));
            }
            IdentityRefusedException why = ((Identity.Refused) identity).why();
            boolean enforced = policy.current().enforcement().isOn();
            meters.identityRefused(why.reason(), enforced);
            if (enforced) {
                return Mono.error(why);
            }
            decisions.onTrial(exchange, why);
            return chain.filter(exchange);
        });
    }

    private static ServerWebExchange withoutCredentials(ServerWebExchange exchange, Identification by) {
        ServerWebExchange bare = exchange;
        for (IdentitySource source : by.sources()) {
            CredentialField field = keptFromUpstream(source);
            if (field != null && isIn(bare.getRequest().getHeaders(), field)) {
                bare = bare.mutate()
                        .request(request -> request.headers(headers -> remove(headers, field)))
                        .build();
            }
        }
        return bare;
    }

    private static @Nullable CredentialField keptFromUpstream(IdentitySource source) {
        if (source instanceof IdentitySource.ApiKey key && !key.forward()) {
            return new CredentialField(key.header(), key.scheme());
        } else if (source instanceof IdentitySource.Jwt token && !token.forward()) {
            return new CredentialField(token.header(), token.scheme());
        } else {
            return null;
        }
    }

    private static boolean isIn(HttpHeaders headers, CredentialField field) {
        return headers.headerNames().stream().anyMatch(name -> HeaderAlias.isSame(name, field.header()));
    }

    private static void remove(HttpHeaders headers, CredentialField field) {
        for (String name : List.copyOf(headers.headerNames())) {
            if (HeaderAlias.isSame(name, field.header())) {
                List<String> others = headers.getOrDefault(name, List.of()).stream()
                        .filter(value -> !field.carries(value))
                        .toList();
                headers.remove(name);
                headers.addAll(name, others);
            }
        }
    }
}
