package io.fairgate.config.policy;

import static io.fairgate.config.yaml.Key.key;
import static io.fairgate.config.yaml.KeyType.DECIMAL;
import static io.fairgate.config.yaml.KeyType.DURATION;
import static io.fairgate.config.yaml.KeyType.LIST;
import static io.fairgate.config.yaml.KeyType.NAMED;
import static io.fairgate.config.yaml.KeyType.NOT_EMPTY_LIST;
import static io.fairgate.config.yaml.KeyType.PART;
import static io.fairgate.config.yaml.KeyType.TEXT;
import static io.fairgate.config.yaml.KeyType.TRUTH;

import io.fairgate.config.routes.Cors;
import io.fairgate.config.routes.RouteMetadata;
import io.fairgate.config.yaml.KeyType.Text;
import io.fairgate.config.yaml.KeyType.Whole;
import io.fairgate.config.yaml.KeyType.Word;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.quota.Quota;
import io.fairgate.time.DurationText;
import io.fairgate.upstream.Balance;
import io.fairgate.upstream.HealthRules;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The declarations of the keys of a policy, part by part: name, type, and what is missing without a required key. Those of
 * the ways to identify tenants are in {@link IdentityReader}. The records of the core check the rest. The JSON schema is
 * generated from these declarations.
 */
final class PolicyKeys {

    private PolicyKeys() {}

    private static final Whole COUNT = new Whole(0, Integer.MAX_VALUE);
    static final String HEADER = "the name of an HTTP header";

    static final String WINDOW = DurationText.EXPECTED + ", or hour, day, week, month or total";

    static final KnownKeys FILE = new KnownKeys(
            "",
            key("tenants", PART).required("the tenants of the gateway, with at least tenants.identify"),
            key("pools", NAMED, "a mapping of pools by name"),
            key("upstreams", NAMED, "a mapping of upstreams by name"),
            key("routes", LIST, "a list of routes"),
            key("rate-limit-headers", new Word(QuotaTerms.HeaderStyle.class)),
            key("metrics", PART),
            key("enforce", TRUTH));
    /** Without routes, because an application with properties declares its routes to Spring. */
    static final KnownKeys PROPERTIES = FILE.without("routes");

    static final KnownKeys METRICS = new KnownKeys("metrics", key("tenants", LIST, "a list of ids of members"));
    static final KnownKeys TENANTS = new KnownKeys(
            "tenants",
            key("identify", NOT_EMPTY_LIST, "a list of ways to identify a tenant, such as - header: X-Tenant-Id")
                    .required(),
            key(
                    "trusted-proxies",
                    NOT_EMPTY_LIST,
                    "a list of the networks of the proxies in front, such as 10.0.0.0/8"),
            key("proxy-headers", LIST, "a list of the headers that these proxies set on every request"),
            key(
                    "proxy-protocol",
                    NOT_EMPTY_LIST,
                    "a list of the networks that use the PROXY protocol, such as 10.0.0.7"),
            key("forward-as", TEXT, "the name of an HTTP header, or none"),
            key("unknown", TEXT, "refuse, or the name of a plan"),
            key("plans", NAMED, "a mapping of plans by name"),
            key("members", NAMED, "a mapping of members by tenant id"),
            key("groups", NAMED, "a mapping of groups by name"),
            key("classes", NAMED, "a mapping of classes of requests by name"));
    static final KnownKeys PLAN = new KnownKeys(
            "tenants.plans.*",
            key("weight", DECIMAL),
            key("guaranteed", COUNT),
            key("reserved", COUNT),
            key("max-in-flight", new Whole(1, Integer.MAX_VALUE)),
            key("max-waiting", COUNT),
            key("quotas", LIST, "a list of quotas"),
            key("parent", TEXT, "the name of a group"));
    static final KnownKeys GROUP = PLAN.at("tenants.groups.*");
    static final KnownKeys CLASS = PLAN.at("tenants.classes.*").without("reserved", "quotas", "parent");
    static final KnownKeys MEMBER = new KnownKeys(
                    "tenants.members.*",
                    key("plan", TEXT, "the name of a plan").required(),
                    key("api-keys", PART),
                    key("certificates", LIST, "a list of names in certificates, such as spiffe://example.com/acme"))
            .and(PLAN.keys());
    static final KnownKeys PLAN_QUOTA = new KnownKeys(
            "tenants.plans.*.quotas[]",
            key("name", TEXT, "the name of the quota in header fields and metrics")
                    .required(),
            key("limit", new Whole(1, Quota.MAX_LIMIT)).required("units per window"),
            key("per", TEXT, WINDOW),
            key("within", DURATION),
            key("burst", new Whole(1, Quota.MAX_LIMIT)),
            key("zone", TEXT, "a time zone such as UTC or Europe/Berlin"),
            key("routes", NOT_EMPTY_LIST, "a list of at least one id of a route"),
            key("enforce", TRUTH));
    static final KnownKeys GROUP_QUOTA = PLAN_QUOTA.at("tenants.groups.*.quotas[]");
    static final KnownKeys MEMBER_QUOTA = PLAN_QUOTA.at("tenants.members.*.quotas[]");

    static final KnownKeys POOL = new KnownKeys(
            "pools.*",
            key("permits", new Whole(1, PoolSettings.MAX_PERMITS))
                    .required("the number of requests that may be in flight at once"),
            key("per-instance-of", TEXT, "the name of an upstream"),
            key("max-waiting", COUNT),
            key("max-wait", DURATION),
            key("max-hold", DURATION),
            key("memory", DURATION),
            key("max-collect", DURATION),
            key("on-client-left", new Word(OnClientLeft.class)),
            key("lease", PART),
            key("enforce", TRUTH));
    static final KnownKeys LEASE = new KnownKeys("pools.*.lease", key("max-ttl", DURATION), key("max-hold", DURATION));

    static final KnownKeys UPSTREAM = new KnownKeys(
            "upstreams.*",
            key("uris", NOT_EMPTY_LIST, "a list of at least one URI, such as http://10.0.0.11:9000")
                    .required(),
            key("balance", new Word(Balance.class)),
            key("health", PART),
            key("check", PART),
            key("retries", new Whole(0, Upstream.MAX_RETRIES)));
    static final KnownKeys INSTANCE = new KnownKeys(
            "upstreams.*.uris[]",
            key("uri", TEXT, UpstreamsReader.URI_MEANING).required(),
            key("weight", new Whole(1, Instance.MAX_WEIGHT)));
    static final KnownKeys HEALTH = new KnownKeys(
            "upstreams.*.health",
            key("failures", new Whole(1, HealthRules.MAX_FAILURES)),
            key("aside", DURATION),
            key("max-aside", DURATION));
    static final KnownKeys CHECK = new KnownKeys(
            "upstreams.*.check",
            key("path", TEXT, "a path such as /healthz").required(),
            key("every", DURATION),
            key("timeout", DURATION));

    static final KnownKeys ROUTE = new KnownKeys(
            "routes[]",
            key("id", TEXT, "a unique name").required(),
            key("uri", TEXT, "the URI of the upstream, such as http://localhost:9000"),
            key("upstream", TEXT, "the name of an upstream"),
            key("uris", NOT_EMPTY_LIST, "a list of at least one URI, such as http://10.0.0.11:9000"),
            key("predicates", NOT_EMPTY_LIST, "a list of at least one predicate, such as Path=/orders/**")
                    .required(),
            key("filters", LIST, "a list of filters"),
            key("metadata", NAMED, "a mapping"),
            key("order", new Whole(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            key("enabled", TRUTH));
    static final KnownKeys ROUTE_INSTANCE = INSTANCE.at("routes[].uris[]");
    static final KnownKeys PREDICATE = new KnownKeys(
            "routes[].predicates[]",
            key("name", TEXT, "a predicate such as Path=/orders/**").required(),
            key("args", PART));
    static final KnownKeys FILTER = new KnownKeys(
            "routes[].filters[]",
            key("name", TEXT, "a filter such as FairShare=orders").required(),
            key("args", PART));

    static final List<KnownKeys> ALL = Stream.of(
                    Stream.of(FILE, METRICS, TENANTS),
                    IdentityReader.keys(),
                    Stream.of(GROUP, GROUP_QUOTA, CLASS, PLAN, PLAN_QUOTA, MEMBER, MEMBER_QUOTA, POOL, LEASE),
                    Stream.of(UPSTREAM, INSTANCE, HEALTH, CHECK),
                    Stream.of(ROUTE, ROUTE_INSTANCE, PREDICATE, FILTER, RouteMetadata.KEYS, Cors.KEYS))
            .flatMap(Function.identity())
            .toList();

    static final String FAIR_SHARE = "FairShare";
    static final String COST = "Cost";
    static final String TENANT = "Tenant";

    /** The arguments of our filters and predicates; the gateway checks others. The short form has the first ones. */
    static final Map<String, KnownKeys> ARGUMENTS = Map.of(
            FAIR_SHARE,
            new KnownKeys(
                    "routes[].filters[].args",
                    key("pool", TEXT, "the name of a pool, such as FairShare=orders")
                            .required(),
                    key("permits", new Whole(1, PoolSettings.MAX_PERMITS)),
                    key("max-hold", DURATION),
                    key("on-client-left", new Word(OnClientLeft.class)),
                    key("class", TEXT, "the name of a class")),
            COST,
            new KnownKeys(
                    "routes[].filters[].args",
                    key("units", new Whole(0, Quota.MAX_LIMIT)),
                    key("rules", TEXT, "rules such as GET /reports/** = 10, with commas between"),
                    key("header", TEXT, HEADER),
                    key("trusted-from", TEXT, "networks such as 10.0.0.0/8, with commas between"),
                    key("response", new Text("bytes|header:\\s*\\S.*"), "bytes, or header: and the name of a header"),
                    // The sizes that Spring reads, from 1 byte up; a number without a unit is bytes.
                    key("per", new Text("0*[1-9][0-9]{0,17}(B|KB|MB|GB|TB)?"), "a size such as 4KB, at least 1B"),
                    key("max", new Whole(1, Quota.MAX_LIMIT))),
            TENANT,
            new KnownKeys(
                    "routes[].predicates[].args",
                    key("tenants", PART, "ids of members, such as Tenant=acme,globex")
                            .required()));
}
