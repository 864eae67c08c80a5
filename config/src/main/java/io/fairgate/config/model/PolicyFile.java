package io.fairgate.config.model;

import io.fairgate.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The checked contents of a policy file.
 *
 * @param policy tenants and pools
 * @param routes in the order of the file; every pool that they name exists
 * @param warnings of values that are allowed but rarely intended, in the order of the file
 * @param unusedPools warnings of pools that no route uses, in the order of the file; where leases are enabled, other
 *     programs may use these pools
 * @param sha256 of the bytes that were read, as 64 hexadecimal digits; empty when they were in no file. Two files that differ in
 *     nothing else, and in their text, are equal: comments do not change a policy
 * @param text what was read, before placeholders were replaced; empty when it was in no file
 */
public record PolicyFile(
        Policy policy,
        List<RouteDeclaration> routes,
        List<Warning> warnings,
        List<Warning> unusedPools,
        String sha256,
        String text) {
    /** An empty policy, under which no request is admitted: for a file that was not or cannot be read. */
    public static final PolicyFile NOTHING =
            new PolicyFile(new Policy(List.of(), Map.of(), null, Map.of()), List.of(), List.of(), List.of(), "", "");

    public PolicyFile {
        routes = List.copyOf(routes);
        warnings = List.copyOf(warnings);
        unusedPools = List.copyOf(unusedPools);
    }
    /** The same contents, read from this text, whose bytes have this SHA-256. */
    public PolicyFile readFrom(String text, String sha256) {
        return new PolicyFile(policy, routes, warnings, unusedPools, sha256, text);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PolicyFile file
                && policy.equals(file.policy)
                && routes.equals(file.routes)
                && warnings.equals(file.warnings)
                && unusedPools.equals(file.unusedPools);
    }

    @Override
    public int hashCode() {
        return Objects.hash(policy, routes, warnings, unusedPools);
    }
}
