package io.fairgate.config.policy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.policy.PoolsReader.Pool;
import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.policy.TenantsReader.Tenants;
import io.fairgate.config.policy.UpstreamsReader.Upstreams;
import io.fairgate.config.yaml.InvalidValue;
import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.PropertyNodes;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import io.fairgate.upstream.Upstream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the whole policy part by part, then what must hold between the parts. */
public final class PolicyFileReader {

    private PolicyFileReader() {}

    /**
     * Reads all of a file.
     *
     * @param filledIn maps each value that came from elsewhere to its placeholder in the file
     * @throws InvalidPolicyException with every mistake of the file
     */
    public static PolicyFile read(Value file, Map<String, String> filledIn) {
        return read(file, PolicyKeys.FILE, filledIn);
    }

    /** Reads all of the properties. Quotas may name any route, because the routes are not among the properties. */
    public static PolicyFile readProperties(Value properties) {
        return read(properties, PolicyKeys.PROPERTIES, Map.of());
    }

    /** Whether the properties below one with this name have names, such as those of members, and not indexes of a list. */
    public static boolean holdsNames(String property) {
        return PolicyKeys.ALL.stream()
                .flatMap(part -> part.keys().stream())
                .anyMatch(key -> key.type() == KeyType.NAMED
                        && PropertyNodes.uniform(key.name()).equals(PropertyNodes.uniform(property)));
    }

    /** Whether a property with this name is a part of a policy. */
    public static boolean isPart(String property) {
        return PolicyKeys.PROPERTIES.names().stream()
                .anyMatch(key -> PropertyNodes.uniform(key).equals(PropertyNodes.uniform(property)));
    }

    private static PolicyFile read(Value file, KnownKeys known, Map<String, String> filledIn) {
        Section section = Section.open(file, known);
        boolean isFile = known.equals(PolicyKeys.FILE);
        Tenants tenants = TenantsReader.read(section.get("tenants"), isFile ? RoutesReader.ids(section) : null);
        Upstreams upstreams = UpstreamsReader.read(section);
        Pools pools = PoolsReader.read(section, upstreams.names());
        RoutesReader reader = new RoutesReader(pools, tenants, upstreams, filledIn);
        List<RouteDeclaration> routes = reader.read(section.items("routes"));
        Map<String, Upstream> allUpstreams = new LinkedHashMap<>(upstreams.upstreams());
        allUpstreams.putAll(reader.ofRoutes());
        Policy policy = policy(section, tenants, pools, metrics(section.get("metrics"), tenants), allUpstreams);
        warnOfReservations(policy, pools);
        UnusedNames unused = new UnusedNames(section, policy);
        // A name that is misspelt where it is used is one mistake, and not two.
        boolean isComplete = !file.mistakes().areAny();
        if (isComplete) {
            unused.warnOfPlansAndGroups();
        }
        if (isComplete && isFile) {
            unused.warnOfClasses(reader.used("class"));
            unused.warnOfUpstreams(reader.used(Destination.UPSTREAM));
        }
        PolicyFile read = new PolicyFile(
                policy,
                routes,
                file.mistakes().warnings(),
                isComplete && isFile ? unused.pools(reader.used("pool")) : List.of(),
                "",
                "");
        file.mistakes().throwIfAny(read);
        return read;
    }

    /** The members that always have time series of their own. */
    private static Set<TenantId> metrics(@Nullable Value value, Tenants tenants) {
        Set<TenantId> members = new LinkedHashSet<>();
        if (value != null) {
            for (Value item : Section.open(value, PolicyKeys.METRICS).items("tenants")) {
                String name = item.text("the id of a member");
                if (name != null
                        && Names.isKnown(name, tenants.tenantNames(), item, "member")
                        && TenantId.isWellFormed(name)) {
                    members.add(TenantId.of(name));
                }
            }
        }
        members.retainAll(tenants.members().keySet());
        return members;
    }

    /** Notes each pool and each group that is too small for its reservations, and makes the policy without them. */
    private static Policy policy(
            Section section, Tenants tenants, Pools pools, Set<TenantId> inMetrics, Map<String, Upstream> upstreams) {
        Map<String, Section> parts = new HashMap<>();
        Map<String, Group> groups = new LinkedHashMap<>(tenants.groups());
        tenants.groupSections().forEach((name, group) -> parts.put("groups." + name, group));
        Map<String, PoolSettings> settings = new LinkedHashMap<>();
        Set<String> dryRunPools = new HashSet<>();
        Map<String, String> perInstance = new HashMap<>();
        pools.pools().forEach((name, pool) -> {
            parts.put("pools." + name, pool.section());
            settings.put(name, pool.settings());
            if (!pool.enforced()) {
                dryRunPools.add(name);
            }
            if (pool.perInstanceOf() != null && upstreams.containsKey(pool.perInstanceOf())) {
                perInstance.put(name, pool.perInstanceOf());
            }
        });
        while (true) {
            try {
                return new Policy(
                        tenants.identification(),
                        tenants.members(),
                        tenants.unknown(),
                        settings,
                        groups,
                        tenants.classes(),
                        new QuotaTerms(
                                tenants.groupQuotas(),
                                section.word("rate-limit-headers", QuotaTerms.HeaderStyle.DRAFT)),
                        new Enforcement(section.truth("enforce", true), dryRunPools),
                        inMetrics,
                        upstreams,
                        perInstance);
            } catch (IllegalArgumentException e) {
                InvalidValue invalid = InvalidValue.of(e);
                String part =
                        invalid.key().substring(0, Math.max(0, invalid.key().lastIndexOf('.')));
                Section refused = parts.remove(part);
                if (refused == null) {
                    throw e;
                }
                refused.mistake(invalid.key().substring(part.length() + 1), invalid);
                settings.keySet().removeIf(name -> part.equals("pools." + name));
                perInstance.keySet().retainAll(settings.keySet());
                groups.replaceAll((name, group) ->
                        part.equals("groups." + name) ? new Group(ShareSettings.EQUAL, group.parent()) : group);
            }
        }
    }

    /**
     * Warns when most of a pool is reserved, and so idle with its tenants; usually a guarantee is intended, which is
     * lent out meanwhile. A pool that the policy refused has a mistake already.
     */
    private static void warnOfReservations(Policy policy, Pools pools) {
        long reserved = policy.shares().reserved();
        for (Pool pool : pools.pools().values()) {
            Section section = pool.section();
            int permits = pool.settings().permits();
            if (reserved == permits) {
                section.warn(
                        "permits",
                        "all %d are reserved: a tenant without a reservation never gets one".formatted(permits));
            } else if (reserved < permits && 2 * reserved > permits) {
                section.warn(
                        "permits",
                        "%d of %d are reserved, and idle while their tenants are idle; guaranteed permits are lent to other tenants meanwhile"
                                .formatted(reserved, permits));
            }
        }
    }
}
