package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.MembersLines;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A policy with {@value #ACTIVE} active tenants, alone or among many other members. The pool {@code open} always has free
 * permits. The pool {@code full} has one, and a short queue. On one route each tenant has a quota of one request.
 */
public final class MembersPolicy {

    static final int ACTIVE = MembersLines.FEW;

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8, "::1/128"] }
              plans:
                plan:
                  quotas:
                    - { name: burst, limit: 1000000, per: 1s }
                    - { name: daily, limit: 1000000000000, per: day }
                    - { name: spent, limit: 1, per: total, routes: [spent] }
              members:
            %s
            pools:
              open: { permits: 64 }
              full: { permits: 1, max-waiting: %d, max-wait: 10h, max-hold: 10h }
            routes:
              - id: open
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/open/**" ]
                filters: [ "FairShare=open" ]
              - id: spent
                uri: http://127.0.0.1:%3$d
                predicates: [ "Path=/spent/**" ]
                filters: [ "FairShare=open" ]
              - id: full
                uri: http://127.0.0.1:%d
                predicates: [ "Path=/full/**" ]
                filters: [ "FairShare=full" ]
                metadata: { response-timeout: 36000000 }
            """;

    private MembersPolicy() {}

    /**
     * The policy file.
     *
     * @param upstream the port of an upstream that answers at once
     * @param silent the port of an upstream that never answers
     */
    public static String text(int members, int upstream, int silent) {
        String lines = IntStream.range(0, members)
                .mapToObj(member -> "    " + tenant(member * (MembersLines.MANY / members)) + ": { plan: plan }")
                .collect(Collectors.joining("\n"));
        return POLICY.formatted(lines, ACTIVE, upstream, silent);
    }

    /** All names have the same length, because longer names take longer to compare. */
    private static String tenant(int member) {
        return "tenant-%05d".formatted(member);
    }

    /** The active tenants are evenly spread among the others. */
    static String active(long number) {
        return tenant((int) Math.floorMod(number, (long) ACTIVE) * (MembersLines.MANY / ACTIVE));
    }

    public static List<String> active() {
        return IntStream.range(0, ACTIVE).mapToObj(MembersPolicy::active).toList();
    }

    /** The header of an active tenant; the next number gives the next tenant. */
    static String tenantField(long number) {
        return "X-Tenant-Id: " + active(number) + "\r\n";
    }
}
