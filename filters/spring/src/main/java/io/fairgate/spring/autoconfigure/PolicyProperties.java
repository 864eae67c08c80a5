package io.fairgate.spring.autoconfigure;

import io.fairgate.spring.settings.DurationSetting;

import io.fairgate.fairness.ShareGroups;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The policy as Spring properties, for a gateway of one's own that has no {@code fairgate.yml}: the same tree, under
 * {@code fairgate.policy}.
 *
 * <p>Over 250 lines because the whole tree is in one place, with how a policy is made of it.
 *
 * @param enabled whether it counts
 * @param tenants who a request belongs to, and what tenants may claim and use
 * @param pools by name
 * @param rateLimitHeaders how answers tell what is left of quotas
 * @param metrics what metrics show
 * @param enforce false decides and counts as usual, and refuses nothing
 */
@ConfigurationProperties(prefix = "fairgate.policy", ignoreUnknownFields = false)
public record PolicyProperties(
        boolean enabled,
        @DefaultValue Tenants tenants,
        @DefaultValue Map<String, Pool> pools,
        @DefaultValue("draft") QuotaTerms.Told rateLimitHeaders,
        @DefaultValue Metrics metrics,
        @DefaultValue("true") boolean enforce) {

    /**
     * Who a request belongs to, and what tenants may claim and use.
     *
     * @param identify tried in order
     * @param forwardAs the header in which the upstream gets the tenant's id, or {@code none}
     * @param unknown {@code refuse}, or the name of the plan that all unknown ids share as one tenant
     * @param plans by name
     * @param members by tenant id
     * @param groups of tenants, by name
     * @param classes of requests within a tenant, by name
     */
    public record Tenants(
            @DefaultValue List<IdentifyProperties> identify,
            @DefaultValue(Identification.DEFAULT_FORWARD_AS) String forwardAs,
            @DefaultValue("refuse") String unknown,
            @DefaultValue Map<String, Settings> plans,
            @DefaultValue Map<String, Settings> members,
            @DefaultValue Map<String, Group> groups,
            @DefaultValue Map<String, Share> classes) {}

    /**
     * What a plan sets, or what a member sets instead of its plan.
     *
     * @param plan the member's plan; not for plans
     * @param parent the group that the tenant is in
     * @param apiKeys digests of the member's API keys, such as {@code sha256:…}; not for plans
     * @param certificates names in certificates that are the member's; not for plans
     */
    public record Settings(
            @Nullable String plan,
            @Nullable String parent,
            @Nullable Double weight,
            @Nullable Integer maxInFlight,
            @Nullable Integer maxWaiting,
            @Nullable Integer guaranteed,
            @Nullable Integer reserved,
            @Nullable List<QuotaProperties> quotas,
            @DefaultValue List<String> apiKeys,
            @DefaultValue List<String> certificates) {

        private ShareSettings share(ShareSettings basis) {
            return new Share(parent, weight, maxInFlight, maxWaiting, guaranteed, reserved).settings(basis);
        }

        private List<QuotaRule> quotas(List<QuotaRule> basis, PropertyPath at) {
            return quotas == null ? basis : QuotaProperties.rules(quotas, at.at("quotas"));
        }
    }

    /**
     * A group of tenants.
     *
     * @param parent the group that it is in
     * @param quotas what all in it may use together
     */
    public record Group(
            @Nullable String parent,
            @Nullable Double weight,
            @Nullable Integer maxInFlight,
            @Nullable Integer maxWaiting,
            @Nullable Integer guaranteed,
            @Nullable Integer reserved,
            @DefaultValue List<QuotaProperties> quotas) {

        ShareGroups.Group group() {
            return new ShareGroups.Group(
                    new Share(parent, weight, maxInFlight, maxWaiting, guaranteed, reserved)
                            .settings(ShareSettings.EQUAL),
                    parent);
        }
    }

    /**
     * What a class of requests may claim.
     *
     * @param parent not for classes
     */
    public record Share(
            @Nullable String parent,
            @Nullable Double weight,
            @Nullable Integer maxInFlight,
            @Nullable Integer maxWaiting,
            @Nullable Integer guaranteed,
            @Nullable Integer reserved) {

        ShareSettings settings(ShareSettings basis) {
            int reservedNow = or(reserved, basis.reserved());
            int guaranteedNow = or(guaranteed, Math.max(basis.guaranteed(), reservedNow));
            return new ShareSettings(
                    weight == null ? basis.weight() : weight,
                    or(maxInFlight, basis.maxInFlight()),
                    or(maxWaiting, basis.maxWaiting()),
                    guaranteedNow,
                    reservedNow);
        }

        private static int or(@Nullable Integer value, int otherwise) {
            return value == null ? otherwise : value;
        }
    }

    /** One pool; see {@link PoolSettings}. */
    public record Pool(
            @Nullable Integer permits,
            @DefaultValue("1000") int maxWaiting,
            @DefaultValue("2s") DurationSetting maxWait,
            @DefaultValue("60s") DurationSetting maxHold,
            @DefaultValue Lease lease,
            @DefaultValue("true") boolean enforce,
            @DefaultValue("10m") DurationSetting memory,
            @Nullable DurationSetting maxCollect,
            @DefaultValue("finish") OnClientLeft onClientLeft) {

        /** How long permits are held that are leased; see {@link LeaseBounds}. */
        public record Lease(
                @DefaultValue("5m") DurationSetting maxTtl,
                @DefaultValue("24h") DurationSetting maxHold) {
            private LeaseBounds bounds() {
                return new LeaseBounds(maxTtl.value(), maxHold.value());
            }
        }

        private PoolSettings settings(PropertyPath at) {
            int size = at.at("permits").required(permits, "how many requests may be in flight at once");
            LeaseBounds leases = at.at("lease").read(lease::bounds);
            return at.read(() -> new PoolSettings(
                    size,
                    maxWaiting,
                    maxWait.value(),
                    maxHold.value(),
                    leases,
                    memory.value(),
                    maxCollect == null ? null : maxCollect.value(),
                    onClientLeft));
        }
    }

    /**
     * What metrics show.
     *
     * @param tenants members that have time series of their own, however little they use
     */
    public record Metrics(@DefaultValue List<String> tenants) {
        private Set<TenantId> ids() {
            return tenants.stream().map(TenantId::of).collect(Collectors.toSet());
        }
    }

    private static final PropertyPath POLICY = new PropertyPath("fairgate.policy");
    private static final PropertyPath TENANTS = POLICY.at("tenants");
    private static final PropertyPath PLANS = TENANTS.at("plans");
    private static final PropertyPath MEMBERS = TENANTS.at("members");

    /** @throws IllegalArgumentException naming the property, what was found and what was expected */
    Policy toPolicy() {
        Map<String, Plan> plans = new LinkedHashMap<>();
        tenants.plans().forEach((name, plan) -> plans.put(name, plan(name, plan)));
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        tenants.members().forEach((name, member) -> {
            PropertyPath at = MEMBERS.named(name);
            String plan = at.at("plan").required(member.plan(), "the name of a plan");
            members.put(TenantId.of(name), tenant(name, member, planOf(plan, plans, at.at("plan")), at));
        });
        PropertyPath unknown = TENANTS.at("unknown");
        TenantPolicy guests = tenants.unknown().equals("refuse")
                ? null
                : planOf(tenants.unknown(), plans, unknown).tenant(TenantId.UNKNOWN);
        Map<String, PoolSettings> poolSettings = new LinkedHashMap<>();
        pools.forEach((name, pool) ->
                poolSettings.put(name, pool.settings(POLICY.at("pools").named(name))));
        Identification identification = identification();
        Map<String, ShareGroups.Group> groups = groups();
        Map<String, ShareSettings> classes = classes();
        QuotaTerms quotas = new QuotaTerms(groupQuotas(), rateLimitHeaders);
        Enforcement enforcement = new Enforcement(enforce, poolsOnTrial());
        Set<TenantId> inMetrics = POLICY.at("metrics").at("tenants").read(metrics::ids);
        try {
            return new Policy(
                    identification, members, guests, poolSettings, groups, classes, quotas, enforcement, inMetrics);
        } catch (IllegalArgumentException e) {
            String message = String.valueOf(e.getMessage());
            boolean isBelowTenants = !message.startsWith("pools.") && !message.startsWith("metrics.");
            throw new IllegalArgumentException((isBelowTenants ? TENANTS : POLICY).name() + "." + message, e);
        }
    }

    /** What tenants of a plan have that say nothing else. */
    private record Plan(String name, @Nullable String parent, ShareSettings share, List<QuotaRule> quotas) {
        TenantPolicy tenant(TenantId id) {
            return new TenantPolicy(id, name, parent, share, quotas);
        }
    }

    private Set<String> poolsOnTrial() {
        return pools.entrySet().stream()
                .filter(pool -> !pool.getValue().enforce())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private Map<String, ShareGroups.Group> groups() {
        Map<String, ShareGroups.Group> groups = new LinkedHashMap<>();
        tenants.groups()
                .forEach((name, group) ->
                        groups.put(name, TENANTS.at("groups").named(name).read(group::group)));
        return groups;
    }

    private Map<String, List<QuotaRule>> groupQuotas() {
        Map<String, List<QuotaRule>> quotas = new LinkedHashMap<>();
        tenants.groups()
                .forEach((name, group) -> quotas.put(
                        name,
                        QuotaProperties.rules(
                                group.quotas(), TENANTS.at("groups").at(name).at("quotas"))));
        return quotas;
    }

    private Map<String, ShareSettings> classes() {
        Map<String, ShareSettings> classes = new LinkedHashMap<>();
        tenants.classes().forEach((name, share) -> {
            PropertyPath at = TENANTS.at("classes").named(name);
            if (share.parent() != null) {
                throw at.at("parent")
                        .mistake("%s (expected: nothing: each tenant has each class)".formatted(share.parent()));
            }
            classes.put(name, at.read(() -> share.settings(ShareSettings.EQUAL)));
        });
        return classes;
    }

    private Identification identification() {
        PropertyPath identify = TENANTS.at("identify");
        if (tenants.identify().isEmpty()) {
            throw identify.mistake("nothing (expected: a list of ways to identify a tenant, such as a header)");
        }
        List<IdentitySource> sources = new ArrayList<>();
        for (IdentifyProperties way : tenants.identify()) {
            sources.add(way.source(identify.at(sources.size())));
        }
        List<ApiKeys.Key> keys = new ArrayList<>();
        Map<String, TenantId> certificates = new LinkedHashMap<>();
        tenants.members().forEach((id, member) -> {
            PropertyPath at = MEMBERS.named(id);
            member.apiKeys()
                    .forEach(key -> keys.add(new ApiKeys.Key(at.read(() -> ApiKeyHash.parse(key)), TenantId.of(id))));
            member.certificates().forEach(name -> {
                TenantId other = certificates.put(name, TenantId.of(id));
                if (other != null || name.isBlank()) {
                    throw at.at("certificates")
                            .mistake(
                                    name.isBlank()
                                            ? "nothing (expected: a name in a certificate)"
                                            : "%s of %s and of %s (expected: each name once)"
                                                    .formatted(name, other, id));
                }
            });
        });
        return TENANTS.read(() -> new Identification(
                sources,
                tenants.forwardAs().equals("none") ? null : tenants.forwardAs(),
                ApiKeys.of(keys),
                certificates));
    }

    private static TenantPolicy tenant(String id, Settings own, Plan plan, PropertyPath at) {
        return new TenantPolicy(
                TenantId.of(id),
                plan.name(),
                own.parent() == null ? plan.parent() : own.parent(),
                at.read(() -> own.share(plan.share())),
                own.quotas(plan.quotas(), at));
    }

    private static Plan planOf(String name, Map<String, Plan> plans, PropertyPath at) {
        Plan plan = plans.get(name);
        if (plan == null) {
            throw at.mistake("%s (expected: one of %s)".formatted(name.isEmpty() ? "nothing" : name, plans.keySet()));
        }
        return plan;
    }

    private static Plan plan(String name, Settings plan) {
        PropertyPath at = PLANS.named(name);
        if (plan.plan() != null) {
            throw at.at("plan").mistake("%s (expected: nothing: only a member has a plan)".formatted(plan.plan()));
        }
        if (!plan.apiKeys().isEmpty() || !plan.certificates().isEmpty()) {
            throw at.mistake("api-keys or certificates (expected: nothing: only a member has them)");
        }
        return new Plan(
                name, plan.parent(), at.read(() -> plan.share(ShareSettings.EQUAL)), plan.quotas(List.of(), at));
    }
}
