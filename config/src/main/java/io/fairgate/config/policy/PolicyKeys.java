package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.policy.IdentitySource.Kind;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The keys of a policy, part by part. Elsewhere are only those of the ways to identify tenants, in
 * {@link IdentityReader}, and the argument of the {@code Tenant} predicate, in {@link TenantReference}.
 */
final class PolicyKeys {

    private PolicyKeys() {}

    private static final List<String> CLAIM =
            List.of("weight", "guaranteed", "reserved", "max-in-flight", "max-waiting", "quotas", "parent");
    private static final List<String> QUOTA_KEYS =
            List.of("name", "limit", "per", "within", "burst", "zone", "routes", "enforce");

    static final KnownKeys FILE =
            new KnownKeys("", List.of("tenants", "pools", "routes", "rate-limit-headers", "metrics", "enforce"));
    /** Without routes, because an application with properties declares its routes to Spring. */
    static final KnownKeys PROPERTIES =
            new KnownKeys("", List.of("tenants", "pools", "rate-limit-headers", "metrics", "enforce"));

    static final KnownKeys METRICS = new KnownKeys("metrics", List.of("tenants"));
    static final KnownKeys TENANTS = new KnownKeys(
            "tenants", List.of("identify", "forward-as", "unknown", "plans", "members", "groups", "classes"));
    static final KnownKeys GROUP = new KnownKeys(
            "tenants.groups.*",
            List.of("weight", "guaranteed", "reserved", "max-in-flight", "max-waiting", "parent", "quotas"));
    static final KnownKeys GROUP_QUOTA = new KnownKeys("tenants.groups.*.quotas[]", QUOTA_KEYS);
    static final KnownKeys CLASS =
            new KnownKeys("tenants.classes.*", List.of("weight", "guaranteed", "max-in-flight", "max-waiting"));
    static final KnownKeys PLAN = new KnownKeys("tenants.plans.*", CLAIM);
    static final KnownKeys PLAN_QUOTA = new KnownKeys("tenants.plans.*.quotas[]", QUOTA_KEYS);
    static final KnownKeys MEMBER = new KnownKeys(
            "tenants.members.*",
            Stream.concat(Stream.of("plan", "api-keys", "certificates"), CLAIM.stream())
                    .toList());
    static final KnownKeys MEMBER_QUOTA = new KnownKeys("tenants.members.*.quotas[]", QUOTA_KEYS);
    static final KnownKeys POOL = new KnownKeys(
            "pools.*",
            List.of(
                    "permits",
                    "max-waiting",
                    "max-wait",
                    "max-hold",
                    "memory",
                    "max-collect",
                    "on-client-left",
                    "lease",
                    "enforce"));
    static final KnownKeys LEASE = new KnownKeys("pools.*.lease", List.of("max-ttl", "max-hold"));
    static final KnownKeys ROUTE =
            new KnownKeys("routes[]", List.of("id", "uri", "predicates", "filters", "metadata", "order", "enabled"));
    static final KnownKeys PREDICATE = new KnownKeys("routes[].predicates[]", List.of("name", "args"));
    static final KnownKeys FILTER = new KnownKeys("routes[].filters[]", List.of("name", "args"));

    /**
     * The arguments of filters in the long form, by the name of the filter. The gateway checks those of other filters.
     */
    static final Map<String, KnownKeys> ARGUMENTS = Map.of(
            FairShareReference.FILTER,
            new KnownKeys("routes[].filters[].args", List.of("pool", "permits", "maxHold", "onClientLeft", "class")),
            CostReference.FILTER,
            new KnownKeys(
                    "routes[].filters[].args",
                    List.of("units", "rules", "header", "trustedFrom", "response", "per", "max")));

    static final List<KnownKeys> ALL = Stream.concat(
                    Stream.of(
                            FILE,
                            METRICS,
                            TENANTS,
                            GROUP,
                            GROUP_QUOTA,
                            CLASS,
                            PLAN,
                            PLAN_QUOTA,
                            MEMBER,
                            MEMBER_QUOTA,
                            POOL,
                            LEASE,
                            ROUTE,
                            PREDICATE,
                            FILTER),
                    Stream.of(Kind.values()).map(IdentityReader::keys))
            .toList();
}
