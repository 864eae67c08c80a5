package io.fairgate.spring.identity;

import io.fairgate.spring.policy.LivePolicy;

import java.util.List;
import java.util.function.Predicate;
import org.springframework.cloud.gateway.handler.AsyncPredicate;
import org.springframework.cloud.gateway.handler.predicate.AbstractRoutePredicateFactory;
import org.springframework.web.server.ServerWebExchange;

/**
 * {@code Tenant=acme,globex}: the route is for requests of these tenants. {@code _unknown} is the one that all unknown
 * ids share.
 *
 * <p>A request that is nobody's matches as well: the first filter of the route then refuses it for what it is. Did it not
 * match, it would be told that there is nothing here, or go on to another route to be refused there.
 */
public final class TenantRoutePredicateFactory
        extends AbstractRoutePredicateFactory<TenantRoutePredicateFactory.Config> {

    private final TenantIdentifier identifier;
    private final LivePolicy policy;
    private final TenantCheck check;

    TenantRoutePredicateFactory(TenantIdentifier identifier, LivePolicy policy, TenantCheck check) {
        super(Config.class);
        this.identifier = identifier;
        this.policy = policy;
        this.check = check;
    }

    @Override
    public String name() {
        return "Tenant";
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
        return exchange -> identifier.identify(exchange).map(identity -> matches(exchange, identity, tenants));
    }

    /** A request that is nobody's matches where it will be refused for that, and nowhere while nobody is refused. */
    private boolean matches(ServerWebExchange exchange, Identity identity, List<String> tenants) {
        if (identity instanceof Identity.Known known) {
            return tenants.contains(known.tenant().id().value());
        }
        boolean enforced = policy.current().enforcement().isOn();
        if (!enforced) {
            // It may come to no route and so to no filter, and it is what the trial is for.
            check.noteDryRun(exchange, ((Identity.Refused) identity).why());
        }
        return enforced;
    }

    /** Not to be used: a token may have to wait for the keys of its issuer. */
    @Override
    public Predicate<ServerWebExchange> apply(Config config) {
        throw new UnsupportedOperationException("Tenant is asked asynchronously, by applyAsync");
    }

    /** What a route says: a bean with setters, because that is what Spring Cloud Gateway binds arguments to. */
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
