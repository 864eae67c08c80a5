package io.fairgate.config;

import io.fairgate.policy.Policy;
import java.util.List;

/**
 * What a policy file says, checked.
 *
 * @param policy tenants and pools
 * @param routes in the order of the file; every pool that they name exists
 */
public record PolicyFile(Policy policy, List<RouteDeclaration> routes) {
    public PolicyFile {
        routes = List.copyOf(routes);
    }
}
