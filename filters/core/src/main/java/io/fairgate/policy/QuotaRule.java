package io.fairgate.policy;

import io.fairgate.quota.Quota;
import java.util.Set;

/**
 * One quota of a tenant or a group, and where it applies.
 *
 * @param routes the ids of the routes that share the quota; empty for all routes
 * @param enforced false for a dry run: the quota decides and counts, and refuses no request
 */
public record QuotaRule(Quota quota, Set<String> routes, boolean enforced) {

    public QuotaRule {
        routes = Set.copyOf(routes);
    }

    /** A quota that is enforced on all routes. */
    public static QuotaRule of(Quota quota) {
        return new QuotaRule(quota, Set.of(), true);
    }

    /** Whether requests of the route are charged to it. */
    public boolean appliesTo(String route) {
        return routes.isEmpty() || routes.contains(route);
    }
}
