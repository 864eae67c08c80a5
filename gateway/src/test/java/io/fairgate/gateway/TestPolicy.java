package io.fairgate.gateway;

/** Policies that tests start from. */
final class TestPolicy {

    private TestPolicy() {}

    /** Tenants a, b and c; {@code /fair/**} takes its permits from a pool with these settings, {@code /plain/**} none. */
    static String onePool(String upstream, String pool) {
        return """
                tenants:
                  identify:
                    - header: X-Tenant-Id
                      trusted-from: [127.0.0.0/8]
                  plans:
                    plan: {}
                  members:
                    a: { plan: plan }
                    b: { plan: plan }
                    c: { plan: plan }
                pools:
                  pool: { %s }
                routes:
                  - id: fair
                    uri: %s
                    predicates: [ "Path=/fair/**" ]
                    filters: [ "FairShare=pool" ]
                  - id: plain
                    uri: %s
                    predicates: [ "Path=/plain/**" ]
                    metadata: { fair-share: false }
                """.formatted(pool, upstream, upstream);
    }

    /** The same policy with a bean, at line 3, as the only way to identify tenants. */
    static String identifiedBy(String bean, String policy) {
        return policy.replace("- header: X-Tenant-Id\n      trusted-from: [127.0.0.0/8]", "- bean: " + bean);
    }
}
