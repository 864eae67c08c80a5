package io.fairgate.spring.identity;

import io.fairgate.spring.policy.PolicyHolder;
import java.util.List;
import java.util.function.Predicate;
import org.springframework.cloud.gateway.handler.AsyncPredicate;
import org.springframework.cloud.gateway.handler.predicate.AbstractRoutePredicateFactory;
import org.springframework.web.server.ServerWebExchange;

/**
 * {@code Tenant=acme,globex}: the route is for requests of these tenants; {@code _unknown} stands for all unknown ids.
 *
 * <p>A request without a valid tenant matches as well, so that the admission refuses it for that reason. If it did not
 * match, it would be answered with 404, or refused on another route. In a dry run it does not match.
 */
public final class TenantRoutePredicateFactory
        extends AbstractRoutePredicateFactory<TenantRoutePredicateFactory.Config> {

    private final TenantIdentifier identifier;
    private final PolicyHolder policy;

    TenantRoutePredicateFactory(TenantIdentifier identifier, PolicyHolder policy) {
        super(Config.class);
        this.identifier = identifier;
        this.policy = policy;
    }

    @Override
    public ShortcutType shortcutType() {
        return ShortcutType.GATHER_LIST;
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("tenants");
    }

    /** @throws IllegalArgumentException when no tenant is named */
    @Override
    public AsyncPredicate<ServerWebExchange> applyAsync(Config config) {
        List<String> tenants = List.copyOf(config.tenants);
        if (tenants.isEmpty()) {
            throw new IllegalArgumentException(
                    "Tenant: tenants: nothing (expected: ids of members, such as Tenant=acme,globex)");
        }
        return exchange -> identifier.identify(exchange, null).map(identity -> matches(exchange, identity, tenants));
    }

    /** A request without a valid tenant matches when it will be refused for that, and does not match in a dry run. */
    private boolean matches(ServerWebExchange exchange, Identity identity, List<String> tenants) {
        if (identity instanceof Identity.Known known) {
            return tenants.contains(known.tenant().id().value());
        }
        boolean enforced = policy.current().enforcement().isOn();
        if (!enforced) {
            // The request may match no route and so not reach the admission, but the dry run must show it.
            identifier.noteDryRun(exchange, ((Identity.Refused) identity).why());
        }
        return enforced;
    }

    /** Not supported, because a token may have to wait for the keys of its issuer. */
    @Override
    public Predicate<ServerWebExchange> apply(Config config) {
        throw new UnsupportedOperationException("the Tenant predicate is asynchronous: use applyAsync");
    }

    /** The arguments of the predicate: a bean with setters, because Spring Cloud Gateway binds arguments to one. */
    public static final class Config {
        private List<String> tenants = List.of();

        public List<String> getTenants() {
            return tenants;
        }

        public Config setTenants(List<String> tenants) {
            this.tenants = List.copyOf(tenants);
            return this;
        }
    }
}
