package io.fairgate.spring.metrics;

import java.util.List;

/** The meters, as Micrometer names them; docs/metrics.md is generated from this list. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable; the checker sees only the type
public enum Meter {
    PERMITS_LIMIT("fairgate.permits.limit", Type.GAUGE, "permits", "Size of the pool, in permits.", "pool"),
    PERMITS_IN_FLIGHT("fairgate.permits.in.flight", Type.GAUGE, "permits", "Permits held now.", "pool"),
    PERMITS_WITHOUT_CLIENT(
            "fairgate.permits.without.client",
            Type.GAUGE,
            "permits",
            "Permits held now for requests whose client has left or was given another answer, until the upstream has"
                    + " answered or its connection is closed.",
            "pool"),
    PERMITS_WAITING("fairgate.permits.waiting", Type.GAUGE, "requests", "Requests that wait for permits.", "pool"),
    TENANT_IN_FLIGHT(
            "fairgate.tenant.in.flight", Type.GAUGE, "permits", "Permits that the tenant holds now.", "pool", "tenant"),
    TENANT_WAITING(
            "fairgate.tenant.waiting", Type.GAUGE, "requests", "Requests of the tenant that wait.", "pool", "tenant"),
    TENANT_SHARE(
            "fairgate.tenant.share",
            Type.GAUGE,
            "permits",
            "Permits that the tenant is entitled to now: the max-min fair share of what it holds and asks for.",
            "pool",
            "tenant"),
    TENANT_WEIGHT("fairgate.tenant.weight", Type.GAUGE, "ratio", "Weight of the tenant.", "pool", "tenant"),
    PERMIT_SECONDS(
            "fairgate.permit.seconds",
            Type.COUNTER,
            "permit seconds",
            "Permit-time used: permits times the seconds for which they were held.",
            "pool",
            "tenant"),
    WAIT(
            "fairgate.wait",
            Type.TIMER,
            "seconds",
            "How long requests waited, by how the wait ended.",
            "pool",
            "tenant",
            "outcome"),
    HOLD("fairgate.hold", Type.TIMER, "seconds", "How long permits were held.", "pool", "tenant"),
    REFUSALS(
            "fairgate.refusals",
            Type.COUNTER,
            "requests",
            "Requests refused by Fairgate; where enforced is false they passed, because what decided is on trial.",
            "pool",
            "tenant",
            "reason",
            "enforced"),
    FAILURES(
            "fairgate.failures",
            Type.COUNTER,
            "requests",
            "Requests that had passed and then failed: the upstream was lost or too slow, or the permit was held too long.",
            "pool",
            "tenant",
            "reason"),
    QUOTA_LIMIT("fairgate.quota.limit", Type.GAUGE, "units", "Units per window of the quota.", "tenant", "quota"),
    QUOTA_REMAINING("fairgate.quota.remaining", Type.GAUGE, "units", "Units left of the quota.", "tenant", "quota"),
    POLICY_RELOADS(
            "fairgate.policy.reloads",
            Type.COUNTER,
            "reloads",
            "Policies that were offered to a running gateway: put in force (success), or refused with the old one kept (failure).",
            "result"),
    KEY_SET_FETCHES(
            "fairgate.keyset.fetches",
            Type.COUNTER,
            "fetches",
            "Fetches of the keys that verify tokens; the old ones stay in use after a failure.",
            "result"),
    RECORDS_LOST(
            "fairgate.records.lost",
            Type.COUNTER,
            "records",
            "Records of the audit log or of the access log that were lost, because it was written too slowly or could not be written.",
            "log"),
    JOURNAL_FAILURES(
            "fairgate.quota.journal.failures",
            Type.COUNTER,
            "failures",
            "How often the usage journal could no longer be written; until it can again, usage is in memory alone."),
    JOURNAL_FAILING(
            "fairgate.quota.journal.failing", Type.GAUGE, "1 or 0", "1 while the usage journal cannot be written."),
    LEASES_OPEN(
            "fairgate.leases.open",
            Type.GAUGE,
            "leases",
            "Leases that hold permits (held) and leases that wait for some (waiting).",
            "state"),
    LEASES_ENDED(
            "fairgate.leases.ended",
            Type.COUNTER,
            "leases",
            "Leases that are over: given back (released), taken back from a holder that was silent (expired), given up"
                    + " while they waited (left), or ended with the gateway (shut-down).",
            "tenant",
            "how"),
    LEASE_RESTORES(
            "fairgate.lease.restores",
            Type.COUNTER,
            "restores",
            "Leases whose holders came back after a restart: with a receipt, and hold again at once what they held (receipt);"
                    + " without one or beyond what receipts may restore, and are acquired like any other lease (queue);"
                    + " or not restored at all (refused).",
            "tenant",
            "result"),
    WAITING_BODY_BYTES(
            "fairgate.waiting.body.bytes",
            Type.GAUGE,
            "bytes",
            "Bytes of request bodies kept while their requests wait."),
    WAITING_BODY_LIMIT(
            "fairgate.waiting.body.limit.bytes",
            Type.GAUGE,
            "bytes",
            "Above how many bytes no more of a waiting body is read.");

    enum Type {
        GAUGE,
        COUNTER,
        TIMER
    }

    private final String id;
    private final Type type;
    private final String unit;
    private final String description;
    private final List<String> tags;

    Meter(String id, Type type, String unit, String description, String... tags) {
        this.id = id;
        this.type = type;
        this.unit = unit;
        this.description = description;
        this.tags = List.of(tags);
    }

    public String id() {
        return id;
    }

    Type type() {
        return type;
    }

    /** The unit, for the documentation; Prometheus shows it in the name of timers only. */
    String unit() {
        return unit;
    }

    public String description() {
        return description;
    }

    List<String> tags() {
        return tags;
    }

    /** The name in Prometheus. */
    String prometheusName() {
        String name = id.replace('.', '_');
        return switch (type) {
            case GAUGE -> name;
            case COUNTER -> name + "_total";
            case TIMER -> name + "_seconds";
        };
    }
}
