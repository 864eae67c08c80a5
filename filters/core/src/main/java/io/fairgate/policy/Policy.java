package io.fairgate.policy;

import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.upstream.Upstream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The whole policy. It has been checked: a caller that has a {@code Policy} need not check it again.
 *
 * @param identification how tenants are identified
 * @param members the configured tenants
 * @param unknown the policy of the one tenant {@link TenantId#UNKNOWN} that all other ids share; null refuses other ids
 * @param pools the settings of the pools, by name
 * @param groups the groups of tenants, by name
 * @param classes the classes of requests within a tenant, by name; the same in each tenant
 * @param quotaTerms the quotas of groups, and the header fields that report quotas
 * @param enforcement the parts of the policy that are enforced
 * @param tenantsInMetrics members that always have time series of their own, however little they use
 * @param upstreams the upstreams with several instances, by name
 * @param poolsPerInstance the upstream of each pool whose permits are those of one instance: it has as many for each
 *     instance that is in use
 */
public record Policy(
        Identification identification,
        Map<TenantId, TenantPolicy> members,
        @Nullable TenantPolicy unknown,
        Map<String, PoolSettings> pools,
        Map<String, ShareGroups.Group> groups,
        Map<String, ShareSettings> classes,
        QuotaTerms quotaTerms,
        Enforcement enforcement,
        Set<TenantId> tenantsInMetrics,
        Map<String, Upstream> upstreams,
        Map<String, String> poolsPerInstance) {

    /** Without groups, classes, API keys, certificates and upstreams, and fully enforced. */
    public Policy(
            List<IdentitySource> identify,
            Map<TenantId, TenantPolicy> members,
            @Nullable TenantPolicy unknown,
            Map<String, PoolSettings> pools) {
        this(
                new Identification(identify),
                members,
                unknown,
                pools,
                Map.of(),
                Map.of(),
                QuotaTerms.NONE,
                Enforcement.FULL,
                Set.of(),
                Map.of(),
                Map.of());
    }

    /**
     * @throws IllegalArgumentException when the members together reserve more permits than a pool has, when the id of a member
     *     begins with an underscore, when {@link TenantShares} refuses the groups and classes, when a group with quotas does
     *     not exist, or when {@code tenantsInMetrics} names a tenant that is not a member
     */
    public Policy {
        // Not Map.copyOf: it loses the order of the policy, which breaks ties between tenants.
        members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        pools = Collections.unmodifiableMap(new LinkedHashMap<>(pools));
        groups = Collections.unmodifiableMap(new LinkedHashMap<>(groups));
        classes = Collections.unmodifiableMap(new LinkedHashMap<>(classes));
        for (TenantId member : members.keySet()) {
            if (member.value().startsWith("_")) {
                throw new IllegalArgumentException(
                        "members: %s (expected: an id that does not begin with _)".formatted(member));
            }
        }
        tenantsInMetrics = Set.copyOf(tenantsInMetrics);
        upstreams = Collections.unmodifiableMap(new LinkedHashMap<>(upstreams));
        poolsPerInstance = Map.copyOf(poolsPerInstance);
        for (Map.Entry<String, String> each : poolsPerInstance.entrySet()) {
            if (!pools.containsKey(each.getKey()) || !upstreams.containsKey(each.getValue())) {
                throw new IllegalArgumentException("pools.%s.per-instance-of: %s (expected: the name of an upstream)"
                        .formatted(each.getKey(), each.getValue()));
            }
        }
        for (TenantId tenant : tenantsInMetrics) {
            if (!members.containsKey(tenant)) {
                throw new IllegalArgumentException(
                        "metrics.tenants: %s (expected: the id of a member)".formatted(tenant));
            }
        }
        for (String group : quotaTerms.ofGroups().keySet()) {
            if (!groups.containsKey(group)) {
                throw new IllegalArgumentException(
                        "groups: %s with quotas (expected: the name of a group)".formatted(group));
            }
        }
        long reserved = shares(members, unknown, groups, classes).reserved();
        pools.forEach((name, pool) -> {
            if (reserved > pool.permits()) {
                throw new IllegalArgumentException(
                        "pools.%s.permits: %d (expected: at least %d, which the members reserve together)"
                                .formatted(name, pool.permits(), reserved));
            }
        });
    }

    /** The shares of every pool: the hierarchy of groups, tenants and classes. */
    public TenantShares shares() {
        return shares(members, unknown, groups, classes);
    }

    private static TenantShares shares(
            Map<TenantId, TenantPolicy> members,
            @Nullable TenantPolicy unknown,
            Map<String, ShareGroups.Group> groups,
            Map<String, ShareSettings> classes) {
        Map<TenantId, ShareSettings> settings = new LinkedHashMap<>();
        Map<TenantId, String> parents = new LinkedHashMap<>();
        for (TenantPolicy tenant : tenants(members, unknown)) {
            settings.put(tenant.id(), tenant.share());
            if (tenant.parent() != null) {
                parents.put(tenant.id(), tenant.parent());
            }
        }
        return new TenantShares(settings, ShareSettings.EQUAL, new ShareGroups(groups, parents), classes, null);
    }

    /** The policy of a member, or for any other id that of unknown ids; null when the id is refused. */
    public @Nullable TenantPolicy tenant(TenantId id) {
        TenantPolicy member = members.get(id);
        return member != null ? member : unknown;
    }

    /** Every tenant that can hold a permit: the members, and the one that unknown ids share. */
    public List<TenantPolicy> tenants() {
        return tenants(members, unknown);
    }

    private static List<TenantPolicy> tenants(Map<TenantId, TenantPolicy> members, @Nullable TenantPolicy unknown) {
        List<TenantPolicy> all = new ArrayList<>(members.values());
        if (unknown != null) {
            all.add(unknown);
        }
        return List.copyOf(all);
    }
}
