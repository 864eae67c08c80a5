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
    private final Strangers strangers;
    private final FairgateMeters meters;

    TenantFilter(TenantIdentifier identifier, LivePolicy policy, Strangers strangers, FairgateMeters meters) {
        this.identifier = identifier;
        this.policy = policy;
        this.strangers = strangers;
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
            if (policy.current().enforcement().isOn()) {
                return meters.refuse(why);
            }
            strangers.wouldBeRefused(exchange, why);
            return chain.filter(exchange);
        });
    }

    private static ServerWebExchange withoutCredentials(ServerWebExchange exchange, Identification by) {
        ServerWebExchange bare = exchange;
        for (IdentitySource source : by.sources()) {
            Stray stray = stray(source);
            if (stray != null && stray.isIn(bare.getRequest().getHeaders())) {
                bare = bare.mutate()
                        .request(request -> request.headers(stray::removeFrom))
                        .build();
            }
        }
        return bare;
    }

    private static @Nullable Stray stray(IdentitySource source) {
        if (source instanceof IdentitySource.ApiKey key) {
            return new Stray(new CredentialField(key.header(), key.scheme()), key.forward());
        } else if (source instanceof IdentitySource.Jwt token) {
            return new Stray(new CredentialField(token.header(), token.scheme()), token.forward());
        } else {
            return null;
        }
    }

    /**
     * What the upstream is not to have: the credential, unless it is forwarded, and in either case whatever stands in
     * headers that the upstream may take for this one. Nobody has verified that.
     */
    private record Stray(CredentialField field, boolean forwarded) {

        private boolean isIn(HttpHeaders headers) {
            return headers.headerNames().stream().anyMatch(this::isNamed);
        }

        private boolean isNamed(String name) {
            return HeaderAlias.isSame(name, field.header()) && !(forwarded && name.equalsIgnoreCase(field.header()));
        }

        private void removeFrom(HttpHeaders headers) {
            for (String name : List.copyOf(headers.headerNames())) {
                if (isNamed(name)) {
                    List<String> others = headers.getOrDefault(name, List.of()).stream()
                            .filter(value -> !field.carries(value))
                            .toList();
                    headers.remove(name);
                    headers.addAll(name, others);
                }
            }
        }
    }
}
