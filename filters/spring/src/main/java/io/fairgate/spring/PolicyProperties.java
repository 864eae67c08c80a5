package io.fairgate.spring;

import io.fairgate.fairness.ShareGroups;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Identification;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.Quota;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationStyle;

/**
 * The policy as Spring properties, for a gateway of one's own that has no {@code fairgate.yml}: the same tree, under
 * {@code fairgate.policy}.
 *
 * @param enabled whether it counts
 * @param tenants who a request belongs to, and what tenants may claim and use
 * @param pools by name
 * @param rateLimitHeaders how answers tell what is left of quotas
 * @param enforce false decides and counts as usual, and refuses nothing
 */
@ConfigurationProperties(prefix = "fairgate.policy", ignoreUnknownFields = false)
public record PolicyProperties(
        boolean enabled,
        @DefaultValue Tenants tenants,
        @DefaultValue Map<String, Pool> pools,
        @DefaultValue("draft") QuotaTerms.Told rateLimitHeaders,
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
            @Nullable List<QuotaSettings> quotas,
            @DefaultValue List<String> apiKeys,
            @DefaultValue List<String> certificates) {

        ShareSettings share(ShareSettings basis) {
            return new Share(parent, weight, maxInFlight, maxWaiting, guaranteed, reserved).settings(basis);
        }

        List<QuotaRule> quotas(List<QuotaRule> basis) {
            return quotas == null
                    ? basis
                    : quotas.stream().map(QuotaSettings::rule).toList();
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
            @DefaultValue List<QuotaSettings> quotas) {

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

    /**
     * One quota.
     *
     * @param per a duration for a rate; {@code hour}, {@code day}, {@code week} or {@code month} for a calendar quota;
     *     {@code total} for units that do not come back
     * @param within instead of {@code per}: the length of a sliding window
     * @param burst for a rate: units at once after a pause, {@code limit} by default
     * @param zone for a calendar quota: its time zone, UTC by default
     * @param routes the ids of the routes that it applies to; all of them by default
     * @param enforce whether it refuses
     */
    public record QuotaSettings(
            String name,
            long limit,
            @Nullable String per,
            @Nullable Duration within,
            @Nullable Long burst,
            @Nullable ZoneId zone,
            @DefaultValue Set<String> routes,
            @DefaultValue("true") boolean enforce) {

        QuotaRule rule() {
            return new QuotaRule(quota(), routes, enforce);
        }

        private Quota quota() {
            if (within != null) {
                refuse("per", per, "nothing: within is the window already");
                refuse("burst", burst, "nothing: only a rate has one");
                refuse("zone", zone, "nothing: only a calendar quota has one");
                return new Quota.Sliding(name, limit, within);
            }
            if (per == null) {
                throw new IllegalArgumentException(
                        "fairgate.policy.tenants: quota %s: per: nothing (expected: per or within)".formatted(name));
            }
            return switch (per) {
                case "hour" -> calendar(Quota.CalendarUnit.HOUR);
                case "day" -> calendar(Quota.CalendarUnit.DAY);
                case "week" -> calendar(Quota.CalendarUnit.WEEK);
                case "month" -> calendar(Quota.CalendarUnit.MONTH);
                case "total" -> total();
                default -> rate(DurationStyle.detectAndParse(per));
            };
        }

        private Quota total() {
            refuse("burst", burst, "nothing: only a rate has one");
            refuse("zone", zone, "nothing: only a calendar quota has one");
            return new Quota.Total(name, limit);
        }

        private Quota calendar(Quota.CalendarUnit unit) {
            refuse("burst", burst, "nothing: a calendar quota has none");
            return new Quota.Calendar(name, limit, unit, zone == null ? ZoneOffset.UTC : zone);
        }

        private Quota rate(Duration window) {
            refuse("zone", zone, "nothing: only a calendar quota has one");
            return new Quota.Rate(name, limit, window, burst == null ? limit : burst);
        }

        private void refuse(String key, @Nullable Object given, String expected) {
            if (given != null) {
                throw new IllegalArgumentException("fairgate.policy.tenants: quota %s: %s: %s (expected: %s)"
                        .formatted(name, key, given, expected));
            }
        }
    }

    /** One pool; see {@link PoolSettings}. */
    public record Pool(
            int permits,
            @DefaultValue("1000") int maxWaiting,
            @DefaultValue("2s") Duration maxWait,
            @DefaultValue("60s") Duration maxHold,
            @DefaultValue("true") boolean enforce) {}

    /** @throws IllegalArgumentException naming the key, what was found and what was expected */
    Policy toPolicy() {
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        tenants.members().forEach((id, member) -> {
            String plan = Objects.requireNonNull(
                    member.plan(),
                    () -> "fairgate.policy.tenants.members." + id + ".plan: nothing (expected: the name of a plan)");
            members.put(TenantId.of(id), tenant(TenantId.of(id), plan, member));
        });
        TenantPolicy unknown = tenants.unknown().equals("refuse")
                ? null
                : tenant(TenantId.UNKNOWN, tenants.unknown(), planOf(tenants.unknown()));
        Map<String, PoolSettings> poolSettings = new LinkedHashMap<>();
        pools.forEach((name, pool) -> poolSettings.put(
                name, new PoolSettings(pool.permits(), pool.maxWaiting(), pool.maxWait(), pool.maxHold())));
        return new Policy(
                identification(),
                members,
                unknown,
                poolSettings,
                groups(),
                classes(),
                new QuotaTerms(groupQuotas(), rateLimitHeaders),
                new Enforcement(enforce, poolsOnTrial()));
    }

    private Set<String> poolsOnTrial() {
        return pools.entrySet().stream()
                .filter(pool -> !pool.getValue().enforce())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private Map<String, ShareGroups.Group> groups() {
        Map<String, ShareGroups.Group> groups = new LinkedHashMap<>();
        tenants.groups().forEach((name, group) -> groups.put(name, group.group()));
        return groups;
    }

    private Map<String, List<QuotaRule>> groupQuotas() {
        Map<String, List<QuotaRule>> quotas = new LinkedHashMap<>();
        tenants.groups()
                .forEach((name, group) -> quotas.put(
                        name, group.quotas().stream().map(QuotaSettings::rule).toList()));
        return quotas;
    }

    private Map<String, ShareSettings> classes() {
        Map<String, ShareSettings> classes = new LinkedHashMap<>();
        tenants.classes().forEach((name, share) -> {
            if (share.parent() != null) {
                throw new IllegalArgumentException(
                        "fairgate.policy.tenants.classes.%s.parent: %s (expected: nothing: each tenant has each class)"
                                .formatted(name, share.parent()));
            }
            classes.put(name, share.settings(ShareSettings.EQUAL));
        });
        return classes;
    }

    private Identification identification() {
        List<ApiKeys.Key> keys = new ArrayList<>();
        Map<String, TenantId> certificates = new LinkedHashMap<>();
        tenants.members().forEach((id, member) -> {
            member.apiKeys().forEach(key -> keys.add(new ApiKeys.Key(ApiKeyHash.parse(key), TenantId.of(id))));
            member.certificates().forEach(name -> {
                TenantId other = certificates.put(name, TenantId.of(id));
                if (other != null) {
                    throw new IllegalArgumentException(
                            "certificates: %s of %s and of %s (expected: each name once)".formatted(name, other, id));
                }
            });
        });
        return new Identification(
                tenants.identify().stream().map(IdentifyProperties::source).toList(),
                tenants.forwardAs().equals("none") ? null : tenants.forwardAs(),
                ApiKeys.of(keys),
                certificates);
    }

    private TenantPolicy tenant(TenantId id, String plan, Settings own) {
        Settings basis = planOf(plan);
        return new TenantPolicy(
                id,
                plan,
                own.parent() == null ? basis.parent() : own.parent(),
                own.share(basis.share(ShareSettings.EQUAL)),
                own.quotas(basis.quotas(List.of())));
    }

    private Settings planOf(String name) {
        Settings plan = tenants.plans().get(name);
        if (plan == null) {
            throw new IllegalArgumentException("fairgate.policy.tenants: plan %s (expected: one of %s)"
                    .formatted(name, tenants.plans().keySet()));
        }
        if (plan.plan() != null) {
            throw new IllegalArgumentException(
                    "fairgate.policy.tenants.plans.%s.plan: %s (expected: nothing: only a member has a plan)"
                            .formatted(name, plan.plan()));
        }
        if (!plan.apiKeys().isEmpty() || !plan.certificates().isEmpty()) {
            throw new IllegalArgumentException(
                    "fairgate.policy.tenants.plans.%s: api-keys or certificates (expected: nothing: only a member has them)"
                            .formatted(name));
        }
        return plan;
    }
}
