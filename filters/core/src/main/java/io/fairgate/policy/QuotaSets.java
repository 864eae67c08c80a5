package io.fairgate.policy;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.shares.ShareGroups;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The quotas that apply to the requests of each tenant on each route, computed once for a policy: a request looks them up
 * without a lock and without allocating. There is one set for each tenant, and for a tenant one more for each route that a
 * quota of the tenant, or of a group above it, names.
 */
public final class QuotaSets {

    private final Map<TenantId, OfTenant> byTenant = new HashMap<>();

    /** @param elsewhere the set for routes that no quota names */
    private record OfTenant(QuotaSet elsewhere, Map<String, QuotaSet> byRoute) {}

    private record Applying(OwnedQuota quota, QuotaRule rule) {}

    public QuotaSets(Policy policy) {
        for (TenantPolicy tenant : policy.tenants()) {
            List<Applying> rules = new ArrayList<>(ofTenant(tenant, policy));
            String group = tenant.parent();
            while (group != null) {
                rules.addAll(ofGroup(group, policy));
                ShareGroups.Group above = policy.groups().get(group);
                group = above == null ? null : above.parent();
            }
            byTenant.put(tenant.id(), ofTenant(rules));
        }
    }

    /** The quotas of the tenant itself, without those of its groups. */
    public static List<OwnedQuota> own(TenantPolicy tenant, Policy policy) {
        return ofTenant(tenant, policy).stream().map(Applying::quota).toList();
    }

    /** The quotas of the group itself, without those of the groups above it. */
    public static List<OwnedQuota> own(String group, Policy policy) {
        return ofGroup(group, policy).stream().map(Applying::quota).toList();
    }

    private static List<Applying> ofTenant(TenantPolicy tenant, Policy policy) {
        return applying(QuotaOwner.tenant(tenant.id()), tenant.quotas(), policy);
    }

    private static List<Applying> ofGroup(String group, Policy policy) {
        return applying(QuotaOwner.group(group), policy.quotaTerms().ofGroups().getOrDefault(group, List.of()), policy);
    }

    private static List<Applying> applying(QuotaOwner owner, List<QuotaRule> rules, Policy policy) {
        boolean isOn = policy.enforcement().isOn();
        return rules.stream()
                .map(rule -> new Applying(new OwnedQuota(owner, rule.quota(), isOn && rule.enforced()), rule))
                .toList();
    }

    private static OfTenant ofTenant(List<Applying> rules) {
        Map<String, QuotaSet> byRoute = rules.stream()
                .flatMap(each -> each.rule.routes().stream())
                .distinct()
                .collect(Collectors.toUnmodifiableMap(
                        route -> route, route -> set(rules, rule -> rule.appliesTo(route))));
        return new OfTenant(set(rules, rule -> rule.routes().isEmpty()), byRoute);
    }

    private static QuotaSet set(List<Applying> rules, Predicate<QuotaRule> applies) {
        return QuotaSet.of(rules.stream()
                .filter(each -> applies.test(each.rule))
                .map(Applying::quota)
                .toList());
    }

    /** Whether the policy names this tenant. The quotas of other tenants are not known here: {@link #of} is empty for them. */
    public boolean know(TenantId tenant) {
        return byTenant.containsKey(tenant);
    }

    /**
     * The quotas of a request.
     *
     * @param tenant the id of a member, or {@link TenantId#UNKNOWN} for all other tenants
     * @param route the id of the request's route; null when it has none
     */
    public QuotaSet of(TenantId tenant, @Nullable String route) {
        OfTenant found = byTenant.get(tenant);
        if (found == null) {
            return QuotaSet.NONE;
        }
        QuotaSet set = route == null ? null : found.byRoute.get(route);
        return set == null ? found.elsewhere : set;
    }
}
