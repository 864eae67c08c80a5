package io.fairgate.config.model;

import io.fairgate.policy.Policy;
import java.util.List;
import java.util.Map;

/**
 * The checked contents of a policy file.
 *
 * @param policy tenants and pools
 * @param routes in the order of the file; every pool that they name exists
 * @param warnings of values that are allowed but rarely intended, in the order of the file
 * @param unusedPools warnings of pools that no route uses, in the order of the file; where leases are enabled, other
 *     programs may use these pools
 */
public record PolicyFile(
        Policy policy, List<RouteDeclaration> routes, List<Warning> warnings, List<Warning> unusedPools) {
    /** An empty policy, under which no request is admitted: for a file that was not or cannot be read. */
    public static final PolicyFile NOTHING =
            new PolicyFile(new Policy(List.of(), Map.of(), null, Map.of()), List.of(), List.of(), List.of());

    public PolicyFile {
        routes = List.copyOf(routes);
        warnings = List.copyOf(warnings);
        unusedPools = List.copyOf(unusedPools);
    }
}
