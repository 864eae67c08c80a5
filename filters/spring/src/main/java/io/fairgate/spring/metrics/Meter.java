package io.fairgate.spring.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.function.DoubleSupplier;

/** The meters, as Micrometer names them; docs/metrics.md is generated from this list. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable; the checker sees only the type
public enum Meter {
    PERMITS_LIMIT(gauge("fairgate.permits.limit", "permits", "pool"), "Size of the pool, in permits."),
    PERMITS_IN_FLIGHT(gauge("fairgate.permits.in.flight", "permits", "pool"), "Permits held now."),
    PERMITS_ACCOUNTED(
            gauge("fairgate.permits.accounted", "permits", "pool"),
            "Permits that tenants hold, one by one, and permits that are free: always as many as the limit, or a permit was lost or is"
                    + " there twice."),
    PERMITS_WITHOUT_CLIENT(
            gauge("fairgate.permits.without.client", "permits", "pool"),
            "Permits held now for requests whose client has left or was given another answer, until the upstream has"
                    + " answered or its connection is closed."),
    PERMITS_WAITING(gauge("fairgate.permits.waiting", "requests", "pool"), "Requests that wait for permits."),
    SLICE_PERMITS(
            gauge("fairgate.slice.permits", "permits", "pool"),
            "With a pool in Redis: permits that requests may hold at this gateway now."),
    SLICE_TARGET(
            gauge("fairgate.slice.target", "permits", "pool"),
            "With a pool in Redis: permits that this gateway should have, by what the requests at all gateways ask for."),
    SLICE_POOL_LIMIT(
            gauge("fairgate.slice.pool.limit", "permits", "pool"),
            "With a pool in Redis: permits of the whole pool; the fewest while the policies of gateways differ."),
    SLICE_NODES(
            gauge("fairgate.slice.nodes", "gateways", "pool"),
            "With a pool in Redis: gateways that share the pool, this one included."),
    SLICE_AGE(
            gauge("fairgate.slice.age.seconds", "seconds", "pool"),
            "With a pool in Redis: time since the heartbeat that brought the last answer of Redis."),
    SLICE_ROUND_TRIP(
            gauge("fairgate.slice.round.trip.seconds", "seconds", "pool"),
            "With a pool in Redis: how long the last heartbeat that was answered took."),
    SLICE_IN_FORCE(
            gauge("fairgate.slice.in.force", "1 or 0", "pool"),
            "With a pool in Redis: 1 while this gateway may grant permits, 0 while Redis has not answered for too long."),
    SLICE_OUTAGE(
            gauge("fairgate.slice.outage", "1 or 0", "pool"),
            "With a pool in Redis: 1 while Redis has not answered for too long, and this gateway grants what its outage policy allows."),
    SLICE_RECOVERING(
            gauge("fairgate.slice.recovering", "1 or 0", "pool"),
            "With a pool in Redis: 1 while no gateway gets more permits, because Redis is new or has lost what it kept."),
    SLICE_EPOCH(
            gauge("fairgate.slice.epoch", "number", "pool"),
            "With a pool in Redis: a number that grows each time when Redis was new or had lost what it kept."),
    TENANT_IN_FLIGHT(
            gauge("fairgate.tenant.in.flight", "permits", "pool", "tenant"), "Permits that the tenant holds now."),
    TENANT_WAITING(gauge("fairgate.tenant.waiting", "requests", "pool", "tenant"), "Requests of the tenant that wait."),
    TENANT_SHARE(
            gauge("fairgate.tenant.share", "permits", "pool", "tenant"),
            "Permits that the tenant is entitled to now: the max-min fair share of what it holds and asks for."),
    TENANT_WEIGHT(gauge("fairgate.tenant.weight", "ratio", "pool", "tenant"), "Weight of the tenant."),
    TENANT_LAG(
            gauge("fairgate.tenant.lag.permit.seconds", "permit seconds", "pool", "tenant"),
            "Permit-time by which the tenant is behind its share while it waits (positive), or ahead of it (negative), compared with the"
                    + " tenants and groups beside it; of _other the largest."),
    TENANT_OLDEST_WAIT(
            gauge("fairgate.tenant.oldest.wait.seconds", "seconds", "pool", "tenant"),
            "How long the request of the tenant waits that has waited longest; 0 when none waits."),
    GROUP_IN_FLIGHT(
            gauge("fairgate.group.in.flight", "permits", "pool", "group"),
            "Permits that the tenants of the group hold now."),
    GROUP_WAITING(
            gauge("fairgate.group.waiting", "requests", "pool", "group"),
            "Requests of the tenants of the group that wait."),
    GROUP_SHARE(
            gauge("fairgate.group.share", "permits", "pool", "group"), "Permits that the group is entitled to now."),
    GROUP_LAG(
            gauge("fairgate.group.lag.permit.seconds", "permit seconds", "pool", "group"),
            "Permit-time by which the group is behind its share while its tenants wait (positive), or ahead of it (negative), compared with"
                    + " the tenants and groups beside it."),
    GROUP_OLDEST_WAIT(
            gauge("fairgate.group.oldest.wait.seconds", "seconds", "pool", "group"),
            "How long the request of its tenants waits that has waited longest; 0 when none waits."),
    CLASS_IN_FLIGHT(
            gauge("fairgate.class.in.flight", "permits", "pool", "class"),
            "Permits that requests of the class hold now, of all tenants."),
    CLASS_WAITING(
            gauge("fairgate.class.waiting", "requests", "pool", "class"),
            "Requests of the class that wait, of all tenants."),
    CLASS_OLDEST_WAIT(
            gauge("fairgate.class.oldest.wait.seconds", "seconds", "pool", "class"),
            "How long the request of the class waits that has waited longest; 0 when none waits."),
    PERMIT_SECONDS(
            counter("fairgate.permit.seconds", "permit seconds", "pool", "tenant"),
            "Permit-time used: permits times the seconds for which they were held."),
    WAIT(timer("fairgate.wait", "pool", "tenant", "outcome"), "How long requests waited, by how the wait ended."),
    HOLD(timer("fairgate.hold", "pool", "tenant"), "How long permits were held."),
    REFUSALS(
            counter("fairgate.refusals", "requests", "pool", "tenant", "reason", "enforced"),
            "Requests refused by Fairgate; with enforced=false they were forwarded, because it was a dry run."),
    FAILURES(
            counter("fairgate.failures", "requests", "pool", "tenant", "reason"),
            "Requests that failed after they were admitted: the upstream was lost or too slow, the client sent its body"
                    + " too slowly, or the permit was held too long."),
    INSTANCE_IN_FLIGHT(
            gauge("fairgate.instance.in.flight", "requests", "upstream", "instance"),
            "Requests in flight at the instance of an upstream."),
    INSTANCE_IN_USE(
            gauge("fairgate.instance.in.use", "1 or 0", "upstream", "instance"),
            "1 while the instance gets requests as usual, 0 while it is aside after failures or fails its checks."),
    INSTANCE_FAILURES(
            counter("fairgate.instance.failures", "requests", "upstream", "instance", "kind"),
            "Requests that failed at the instance: no connection could be opened (unreachable), or it answered with 502, 503 or 504, not"
                    + " in time, or not at all (failed)."),
    UPSTREAM_RETRIES(
            counter("fairgate.upstream.retries", "requests", "upstream"),
            "Requests that failed at one instance and were sent to another one."),
    REQUESTS(
            counter("fairgate.requests", "requests", "route"),
            "Requests received, by the route that they matched; none for those that matched none, or were refused before that."),
    UPSTREAM_RESPONSES(
            counter("fairgate.upstream.responses", "responses", "route", "status"),
            "Responses of upstreams, by route, and by the class of their status (2xx to 5xx, or other); each attempt counts, and no"
                    + " WebSocket."),
    DECISIONS(
            counter("fairgate.decisions", "requests", "route", "pool", "reason", "enforced"),
            "Refusals and failures by route, and by its pool if the tenant was known, instead of by tenant."),
    QUOTA_REFUSALS(
            counter("fairgate.quota.refusals", "requests", "tenant", "quota", "enforced"),
            "Requests that the quota refused; with enforced=false they were forwarded, because it was a dry run. The quota is _other"
                    + " for tenants without series of their own."),
    QUOTA_LIMIT(gauge("fairgate.quota.limit", "units", "tenant", "quota"), "Units per window of the quota."),
    QUOTA_CAPACITY(
            gauge("fairgate.quota.capacity", "units", "tenant", "quota"),
            "Units of the quota that can be left at most: its burst, or else its limit."),
    QUOTA_REMAINING(gauge("fairgate.quota.remaining", "units", "tenant", "quota"), "Units left of the quota."),
    POLICY_RELOADS(
            counter("fairgate.policy.reloads", "reloads", "result"),
            "New policies offered to the running gateway: put in force (success), or refused (failure)."),
    POLICY_LAST_RELOAD_SUCCESSFUL(
            gauge("fairgate.policy.last.reload.successful", "1 or 0"),
            "1 while the latest policy that was offered is in force, 0 after one that was refused."),
    POLICY_LAST_RELOAD_SUCCESS(
            gauge("fairgate.policy.last.reload.success.timestamp.seconds", "seconds since 1970"),
            "When the policy in force was put in force."),
    POLICY_HASH(
            gauge("fairgate.policy.hash", "number"),
            "The first 12 hexadecimal digits of the SHA-256 of the policy file in force, as a number: gateways with the same number have the"
                    + " same file. 0 if the policy is in no file."),
    KEY_SET_FETCHES(
            counter("fairgate.keyset.fetches", "fetches", "keys", "result"),
            "Fetches of the keys that verify tokens, by their URL or file; after a failure the old keys stay in use."),
    RECORDS_LOST(
            counter("fairgate.records.lost", "records", "log"),
            "Records of the audit log or the access log that were lost, because the log was written too slowly or could"
                    + " not be written."),
    CLIENT_FAULTS(
            counter("fairgate.client.faults", "errors"),
            "In the program: errors of connections that clients caused, by breaking HTTP/2 or TLS or by leaving; the log says so"
                    + " once a minute at most."),
    QUOTA_UNCHARGED(
            counter("fairgate.quota.uncharged", "requests"),
            "With quotas in Redis and the outage policy fail-open: requests that passed and were not charged, because Redis did not"
                    + " answer."),
    JOURNAL_FAILURES(
            counter("fairgate.quota.journal.failures", "failures"),
            "How often the usage journal became impossible to write; until it can be written again, usage is kept in"
                    + " memory only."),
    JOURNAL_FAILING(gauge("fairgate.quota.journal.failing", "1 or 0"), "1 while the usage journal cannot be written."),
    LEASES_OPEN(
            gauge("fairgate.leases.open", "leases", "state"),
            "Leases that hold permits (held) and leases that wait for permits (waiting)."),
    LEASES_GRANTED(
            counter("fairgate.leases.granted", "leases", "pool", "tenant"),
            "Leases that were granted permits. A lease of several pools counts in each."),
    LEASES_ENDED(
            counter("fairgate.leases.ended", "leases", "pool", "tenant", "how"),
            "Leases that have ended: released by their holder (released), expired without a renewal (expired),"
                    + " cancelled while they waited (left), ended by an operator (revoked), or ended with the gateway (shut-down)."
                    + " A lease of several pools counts in each."),
    LEASE_RESTORES(
            counter("fairgate.lease.restores", "restores", "tenant", "result"),
            "Restores of leases after a restart: held again at once with a valid receipt (receipt); acquired like any"
                    + " other lease, without a receipt or beyond what receipts may restore (queue); or refused"
                    + " (refused)."),
    EVENT_LOOP_LAG(
            gauge("fairgate.event.loop.lag.seconds", "seconds"),
            "The longest time by which an event loop of clients was late, of all loops, in the last 30 to 60 seconds."),
    WAITING_BODY_BYTES(
            gauge("fairgate.waiting.body.bytes", "bytes"), "Bytes of request bodies kept while their requests wait."),
    WAITING_BODY_LIMIT(
            gauge("fairgate.waiting.body.limit.bytes", "bytes"),
            "The bytes of kept request bodies above which no more of a body is read.");

    enum Type {
        GAUGE,
        COUNTER,
        TIMER
    }

    private record Declaration(String id, Type type, String unit, List<String> tags) {}

    private final Declaration declaration;
    private final String description;

    Meter(Declaration declaration, String description) {
        this.declaration = declaration;
        this.description = description;
    }

    private static Declaration gauge(String id, String unit, String... tags) {
        return new Declaration(id, Type.GAUGE, unit, List.of(tags));
    }

    private static Declaration counter(String id, String unit, String... tags) {
        return new Declaration(id, Type.COUNTER, unit, List.of(tags));
    }

    private static Declaration timer(String id, String... tags) {
        return new Declaration(id, Type.TIMER, "seconds", List.of(tags));
    }

    public String id() {
        return declaration.id();
    }

    Type type() {
        return declaration.type();
    }

    /** The unit, for the documentation; Prometheus shows it in the name of timers only. */
    String unit() {
        return declaration.unit();
    }

    String description() {
        return description;
    }

    List<String> tags() {
        return declaration.tags();
    }

    /** Registers a gauge or a counter whose value is read at a scrape. */
    public io.micrometer.core.instrument.Meter register(MeterRegistry registry, Tags tags, DoubleSupplier value) {
        // Both would refer weakly to an object that holds the value; this one is never collected.
        return type() == Type.GAUGE
                ? Gauge.builder(id(), this, meter -> value.getAsDouble())
                        .description(description)
                        .tags(tags)
                        .register(registry)
                : FunctionCounter.builder(id(), this, meter -> value.getAsDouble())
                        .description(description)
                        .tags(tags)
                        .register(registry);
    }
}
