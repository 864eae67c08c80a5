package io.fairgate.benchmarks.gateway;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The policy of a Fairgate gateway in a comparison.
 *
 * @param members all of the same plan
 * @param quotas of the plan, as in the policy file
 * @param permits of the only pool
 * @param filters of the only route, as in the policy file
 */
public record FairgatePolicy(List<String> members, String quotas, int permits, String filters) {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8, "::1/128"] }
              plans:
                plan: { quotas: [%s] }
              members:
            %s
            pools:
              pool: { permits: %d }
            routes:
              - id: up
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/**" ]
                filters: [%s]
            """;

    /** With the port of the upstream. */
    public String text(int upstream) {
        String lines = members.stream()
                .map(member -> "    " + member + ": { plan: plan }")
                .collect(Collectors.joining("\n"));
        return POLICY.formatted(quotas, lines, permits, upstream, filters);
    }
}
