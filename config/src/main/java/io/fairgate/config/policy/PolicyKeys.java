package io.fairgate.config.policy;

import static io.fairgate.config.yaml.Key.of;
import static io.fairgate.config.yaml.KeyType.DECIMAL;
import static io.fairgate.config.yaml.KeyType.DURATION;
import static io.fairgate.config.yaml.KeyType.LIST;
import static io.fairgate.config.yaml.KeyType.NAMED;
import static io.fairgate.config.yaml.KeyType.NOT_EMPTY_LIST;
import static io.fairgate.config.yaml.KeyType.PART;
import static io.fairgate.config.yaml.KeyType.TEXT;
import static io.fairgate.config.yaml.KeyType.TRUTH;

import io.fairgate.config.yaml.KeyType.Text;
import io.fairgate.config.yaml.KeyType.Whole;
import io.fairgate.config.yaml.KeyType.Word;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.IdentitySource.Kind;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TokenRules;
import io.fairgate.quota.Quota;
import io.fairgate.time.DurationText;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The declarations of all keys of a policy, part by part: name, type, and what is missing without a required key. The
 * records of the core check the rest. The JSON schema is generated from these declarations.
 */
final class PolicyKeys {

    private PolicyKeys() {}

    /** The keys of a way to identify tenants. Those of a plain header are in the item of the list itself. */
    static KnownKeys identity(Kind kind) {
        return switch (kind) {
            case HEADER -> IDENTITY;
            case API_KEY -> API_KEY;
            case JWT -> JWT;
            case CLIENT_CERTIFICATE -> CLIENT_CERTIFICATE;
        };
    }

    private static final Whole COUNT = new Whole(0, Integer.MAX_VALUE);
    private static final String HEADER = "the name of an HTTP header";

    static final String TRUSTED_FROM = "a list of the networks whose peers may send this header, such as 127.0.0.0/8";

    static final String WINDOW = DurationText.EXPECTED + ", or hour, day, week, month or total";

    static final KnownKeys FILE = new KnownKeys(
            "",
            of("tenants", PART).required("the tenants of the gateway, with at least tenants.identify"),
            of("pools", NAMED, "a mapping of pools by name"),
            of("routes", LIST, "a list of routes"),
            of("rate-limit-headers", new Word(QuotaTerms.HeaderStyle.class)),
            of("metrics", PART),
            of("enforce", TRUTH));
    /** Without routes, because an application with properties declares its routes to Spring. */
    static final KnownKeys PROPERTIES = FILE.without("routes");

    static final KnownKeys METRICS = new KnownKeys("metrics", of("tenants", LIST, "a list of ids of members"));
    static final KnownKeys TENANTS = new KnownKeys(
            "tenants",
            of("identify", NOT_EMPTY_LIST, "a list of ways to identify a tenant, such as - header: X-Tenant-Id")
                    .required(),
            of("forward-as", TEXT, "the name of an HTTP header, or none"),
            of("unknown", TEXT, "refuse, or the name of a plan"),
            of("plans", NAMED, "a mapping of plans by name"),
            of("members", NAMED, "a mapping of members by tenant id"),
            of("groups", NAMED, "a mapping of groups by name"),
            of("classes", NAMED, "a mapping of classes of requests by name"));
    static final KnownKeys IDENTITY = new KnownKeys(
                    "tenants.identify[]", of("header", TEXT, HEADER), of("trusted-from", NOT_EMPTY_LIST, TRUSTED_FROM))
            .and(Stream.of(Kind.values())
                    .filter(kind -> kind != Kind.HEADER)
                    .map(kind -> of(kind.key(), PART))
                    .toList());
    static final KnownKeys API_KEY = new KnownKeys(
            "tenants.identify[].api-key",
            of("header", TEXT, "the name of the header that carries the key, such as X-Api-Key")
                    .required(),
            of("scheme", TEXT, "a word such as Bearer"),
            of("forward", TRUTH));
    static final KnownKeys JWT = new KnownKeys(
            "tenants.identify[].jwt",
            of("header", TEXT, HEADER),
            of("issuer", TEXT, "the value of iss in the tokens").required(),
            of("audience", TEXT, "a value of aud in the tokens").required(),
            of("claim", TEXT, "the claim that holds the tenant's id"),
            of("algorithms", NOT_EMPTY_LIST, "a list with at least one of " + String.join(", ", TokenRules.ALGORITHMS)),
            of("jwks", TEXT, "the location of the issuer's public keys: a URL or a file")
                    .required(),
            of("refresh", DURATION),
            of("skew", DURATION),
            of("forward", TRUTH));
    static final KnownKeys CLIENT_CERTIFICATE = new KnownKeys(
            "tenants.identify[].client-certificate",
            of("name", new Word(CertificateName.class))
                    .required("one of " + String.join(", ", CertificateName.labels())));

    static final KnownKeys PLAN = new KnownKeys(
            "tenants.plans.*",
            of("weight", DECIMAL),
            of("guaranteed", COUNT),
            of("reserved", COUNT),
            of("max-in-flight", new Whole(1, Integer.MAX_VALUE)),
            of("max-waiting", COUNT),
            of("quotas", LIST, "a list of quotas"),
            of("parent", TEXT, "the name of a group"));
    static final KnownKeys GROUP = PLAN.at("tenants.groups.*");
    static final KnownKeys CLASS = PLAN.at("tenants.classes.*").without("reserved", "quotas", "parent");
    static final KnownKeys MEMBER = new KnownKeys(
                    "tenants.members.*",
                    of("plan", TEXT, "the name of a plan").required(),
                    of("api-keys", PART),
                    of("certificates", LIST, "a list of names in certificates, such as spiffe://example.com/acme"))
            .and(PLAN.keys());
    static final KnownKeys PLAN_QUOTA = new KnownKeys(
            "tenants.plans.*.quotas[]",
            of("name", TEXT, "the name of the quota in header fields and metrics")
                    .required(),
            of("limit", new Whole(1, Quota.MAX_LIMIT)).required("units per window"),
            of("per", TEXT, WINDOW),
            of("within", DURATION),
            of("burst", new Whole(1, Quota.MAX_LIMIT)),
            of("zone", TEXT, "a time zone such as UTC or Europe/Berlin"),
            of("routes", NOT_EMPTY_LIST, "a list of at least one id of a route"),
            of("enforce", TRUTH));
    static final KnownKeys GROUP_QUOTA = PLAN_QUOTA.at("tenants.groups.*.quotas[]");
    static final KnownKeys MEMBER_QUOTA = PLAN_QUOTA.at("tenants.members.*.quotas[]");

    static final KnownKeys POOL = new KnownKeys(
            "pools.*",
            of("permits", new Whole(1, PoolSettings.MAX_PERMITS))
                    .required("the number of requests that may be in flight at once"),
            of("max-waiting", COUNT),
            of("max-wait", DURATION),
            of("max-hold", DURATION),
            of("memory", DURATION),
            of("max-collect", DURATION),
            of("on-client-left", new Word(OnClientLeft.class)),
            of("lease", PART),
            of("enforce", TRUTH));
    static final KnownKeys LEASE = new KnownKeys("pools.*.lease", of("max-ttl", DURATION), of("max-hold", DURATION));

    static final KnownKeys ROUTE = new KnownKeys(
            "routes[]",
            of("id", TEXT, "a unique name").required(),
            of("uri", TEXT, "the URI of the upstream, such as http://localhost:9000")
                    .required(),
            of("predicates", NOT_EMPTY_LIST, "a list of at least one predicate, such as Path=/orders/**")
                    .required(),
            of("filters", LIST, "a list of filters"),
            of("metadata", NAMED, "a mapping"),
            of("order", new Whole(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            of("enabled", TRUTH));
    static final KnownKeys PREDICATE = new KnownKeys(
            "routes[].predicates[]",
            of("name", TEXT, "a predicate such as Path=/orders/**").required(),
            of("args", PART));
    static final KnownKeys FILTER = new KnownKeys(
            "routes[].filters[]",
            of("name", TEXT, "a filter such as FairShare=orders").required(),
            of("args", PART));

    static final List<KnownKeys> ALL = Stream.of(
                    Stream.of(FILE, METRICS, TENANTS),
                    Stream.of(Kind.values()).map(PolicyKeys::identity),
                    Stream.of(GROUP, GROUP_QUOTA, CLASS, PLAN, PLAN_QUOTA, MEMBER, MEMBER_QUOTA, POOL, LEASE),
                    Stream.of(ROUTE, PREDICATE, FILTER))
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
                    of("pool", TEXT, "the name of a pool, such as FairShare=orders")
                            .required(),
                    of("permits", new Whole(1, PoolSettings.MAX_PERMITS)),
                    of("max-hold", DURATION),
                    of("on-client-left", new Word(OnClientLeft.class)),
                    of("class", TEXT, "the name of a class")),
            COST,
            new KnownKeys(
                    "routes[].filters[].args",
                    of("units", new Whole(0, Quota.MAX_LIMIT)),
                    of("rules", TEXT, "rules such as GET /reports/** = 10, with commas between"),
                    of("header", TEXT, HEADER),
                    of("trusted-from", TEXT, "networks such as 10.0.0.0/8, with commas between"),
                    of("response", new Text("bytes|header:\\s*\\S.*"), "bytes, or header: and the name of a header"),
                    // The sizes that Spring reads, from 1 byte up; a number without a unit is bytes.
                    of("per", new Text("0*[1-9][0-9]{0,17}(B|KB|MB|GB|TB)?"), "a size such as 4KB, at least 1B"),
                    of("max", new Whole(1, Quota.MAX_LIMIT))),
            TENANT,
            new KnownKeys(
                    "routes[].predicates[].args",
                    of("tenants", PART, "ids of members, such as Tenant=acme,globex")
                            .required()));
}
