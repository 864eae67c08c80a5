package io.fairgate.spring;

import java.util.List;

/** The meters, as Micrometer names them; docs/metrics.md is generated from this list. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable; the checker sees only the type
enum Meter {
    PERMITS_LIMIT("fairgate.permits.limit", Type.GAUGE, "Size of the pool, in permits.", "pool"),
    PERMITS_IN_FLIGHT("fairgate.permits.in.flight", Type.GAUGE, "Permits held now.", "pool"),
    PERMITS_WAITING("fairgate.permits.waiting", Type.GAUGE, "Requests that wait for permits.", "pool"),
    TENANT_IN_FLIGHT("fairgate.tenant.in.flight", Type.GAUGE, "Permits that the tenant holds now.", "pool", "tenant"),
    TENANT_WAITING("fairgate.tenant.waiting", Type.GAUGE, "Requests of the tenant that wait.", "pool", "tenant"),
    TENANT_SHARE(
            "fairgate.tenant.share",
            Type.GAUGE,
            "Permits that the tenant is entitled to now: the max-min fair share of what it holds and asks for.",
            "pool",
            "tenant"),
    TENANT_WEIGHT("fairgate.tenant.weight", Type.GAUGE, "Weight of the tenant.", "pool", "tenant"),
    PERMIT_SECONDS(
            "fairgate.permit.seconds",
            Type.COUNTER,
            "Permit-time used: permits times the seconds for which they were held.",
            "pool",
            "tenant"),
    WAIT("fairgate.wait", Type.TIMER, "How long requests waited, by how the wait ended.", "pool", "tenant", "outcome"),
    HOLD("fairgate.hold", Type.TIMER, "How long permits were held.", "pool", "tenant"),
    REFUSALS("fairgate.refusals", Type.COUNTER, "Requests refused by Fairgate.", "pool", "tenant", "reason"),
    QUOTA_LIMIT("fairgate.quota.limit", Type.GAUGE, "Units per window of the quota.", "tenant", "quota"),
    QUOTA_REMAINING("fairgate.quota.remaining", Type.GAUGE, "Units left of the quota.", "tenant", "quota"),
    WAITING_BODY_BYTES(
            "fairgate.waiting.body.bytes", Type.GAUGE, "Bytes of request bodies kept while their requests wait."),
    WAITING_BODY_LIMIT(
            "fairgate.waiting.body.limit.bytes", Type.GAUGE, "Above how many bytes no more of a waiting body is read.");

    enum Type {
        GAUGE,
        COUNTER,
        TIMER
    }

    private final String id;
    private final Type type;
    private final String description;
    private final List<String> tags;

    Meter(String id, Type type, String description, String... tags) {
        this.id = id;
        this.type = type;
        this.description = description;
        this.tags = List.of(tags);
    }

    String id() {
        return id;
    }

    Type type() {
        return type;
    }

    String description() {
        return description;
    }

    List<String> tags() {
        return tags;
    }

    /** As Prometheus shows it. */
    String prometheusName() {
        String name = id.replace('.', '_');
        return switch (type) {
            case GAUGE -> name;
            case COUNTER -> name + "_total";
            case TIMER -> name + "_seconds";
        };
    }
}
