package io.fairgate.config.model;

import io.fairgate.policy.Policy;
import java.util.List;
import java.util.Map;

/**
 * What a policy file says, checked.
 *
 * @param policy tenants and pools
 * @param routes in the order of the file; every pool that they name exists
 * @param warnings of what is allowed and seldom meant, in the order of the file
 */
public record PolicyFile(Policy policy, List<RouteDeclaration> routes, List<Warning> warnings) {
    /** Nobody may use anything: what is in force before there is a file. */
    public static final PolicyFile NOTHING =
            new PolicyFile(new Policy(List.of(), Map.of(), null, Map.of()), List.of(), List.of());

    public PolicyFile {
        routes = List.copyOf(routes);
        warnings = List.copyOf(warnings);
    }
}
