package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.Identification;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.policy.TrustedProxies;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants}: identification, groups, classes, plans and members. */
final class TenantsReader {
    private static final String REFUSE = "refuse";
    private static final String NONE = "none";

    private final Section section;
    private final QuotasReader quotas;
    private final TrustedProxies proxies;
    private final IdentityReader.Ways ways;
    private final CredentialsReader credentials;
    private final GroupsReader groups;
    private final Map<String, Plan> plans = new HashMap<>();

    /** The names of all plans, including plans with mistakes; null when they cannot be determined. */
    private final @Nullable Set<String> planNames;

    private TenantsReader(Section section, QuotasReader quotas) {
        this.section = section;
        this.quotas = quotas;
        proxies = ProxiesReader.read(section);
        ways = IdentityReader.read(section, proxies);
        credentials = new CredentialsReader(ways);
        groups = new GroupsReader(section, quotas);
        planNames = section.names("plans");
    }

    /** @param routes the ids that quotas may name; null when they cannot be determined */
    static Tenants read(@Nullable Value value, @Nullable Set<String> routes) {
        return value == null
                ? Tenants.NONE
                : new TenantsReader(Section.open(value, PolicyKeys.TENANTS), new QuotasReader(routes)).tenants();
    }

    private Tenants tenants() {
        section.entries("plans").forEach(this::readPlan);
        Map<TenantId, TenantPolicy> members = members();
        return new Tenants(
                identification(),
                tenantNames(),
                members,
                unknown(),
                groups.groups,
                groups.quotas,
                groups.sections,
                classes(),
                section.names("classes"));
    }

    /** Without the credentials of members when a way has a mistake: it is unknown to which way they belong. */
    private Identification identification() {
        Identification named = section.accepted(keys -> {
            String name = keys.text("forward-as", Identification.DEFAULT_FORWARD_AS);
            return new Identification(List.of(), name.equals(NONE) ? null : name, ApiKeys.NONE, Map.of(), proxies);
        });
        return named != null && ways.complete()
                ? new Identification(
                        ways.sources(), named.forwardAs(), credentials.apiKeys(), credentials.certificates(), proxies)
                : new Identification(
                        ways.sources(), Identification.DEFAULT_FORWARD_AS, ApiKeys.NONE, Map.of(), proxies);
    }

    private @Nullable Set<String> tenantNames() {
        Set<String> members = section.names("members");
        if (members == null) {
            return null;
        }
        Set<String> names = new LinkedHashSet<>(members);
        if (!section.text("unknown", REFUSE).equals(REFUSE)) {
            names.add(TenantId.UNKNOWN.value());
        }
        return names;
    }

    private Map<String, ShareSettings> classes() {
        Map<String, ShareSettings> classes = new LinkedHashMap<>();
        section.entries("classes").forEach((name, entry) -> {
            boolean isNamed = Names.isAllowed(name, entry);
            ShareSettings settings = GroupsReader.shareOf(Section.open(entry, PolicyKeys.CLASS));
            if (isNamed) {
                classes.put(name, settings);
            }
        });
        return classes;
    }

    private void readPlan(String name, Value entry) {
        if (name.equals(REFUSE)) {
            entry.mistake("a plan of this name", "another name, because unknown: refuse admits no unknown tenant");
        } else {
            Names.isAllowed(name, entry);
        }
        Section plan = Section.open(entry, PolicyKeys.PLAN);
        // The settings are read here as well, so that a plan without members is checked.
        plans.put(
                name,
                new Plan(
                        plan,
                        GroupsReader.shareOf(plan),
                        groups.parent(plan),
                        quotas.read(plan, PolicyKeys.PLAN_QUOTA)));
    }

    private Map<TenantId, TenantPolicy> members() {
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        section.entries("members").forEach((name, entry) -> {
            boolean isNamed = Names.isAllowed(name, entry);
            TenantId id = isNamed ? TenantId.of(name) : TenantId.UNKNOWN;
            TenantPolicy member = member(id, Section.open(entry, PolicyKeys.MEMBER));
            if (isNamed) {
                members.put(id, member);
            }
        });
        return members;
    }

    private TenantPolicy member(TenantId id, Section member) {
        credentials.read(id, member);
        String planName = Names.reference(member, "plan", planNames, "plan");
        Plan plan = plans.get(planName);
        if (plan != null) {
            member.inherit(plan.section, "of the plan " + planName);
        }
        List<QuotaRule> own = quotas.read(member, PolicyKeys.MEMBER_QUOTA);
        String parent = member.get("parent") == null && plan != null ? plan.parent : groups.parent(member);
        return new TenantPolicy(
                id,
                planName == null ? "" : planName,
                parent,
                GroupsReader.shareOf(member),
                member.get("quotas") == null && plan != null ? plan.quotas : own);
    }

    private @Nullable TenantPolicy unknown() {
        Set<String> known = null;
        if (planNames != null) {
            known = new LinkedHashSet<>(planNames);
            known.add(REFUSE);
        }
        String name = Names.reference(section, "unknown", known, "plan");
        Plan plan = plans.get(name);
        return name == null || plan == null || name.equals(REFUSE)
                ? null
                : new TenantPolicy(TenantId.UNKNOWN, name, plan.parent, plan.share, plan.quotas);
    }

    /** The part of a plan that has no mistakes. */
    private record Plan(
            Section section, ShareSettings share, @Nullable String parent, List<QuotaRule> quotas) {}

    /**
     * The part of {@code tenants} that has no mistakes, with the names of all tenants and classes that routes may name;
     * the names are null when they cannot be determined.
     */
    record Tenants(
            Identification identification,
            @Nullable Set<String> tenantNames,
            Map<TenantId, TenantPolicy> members,
            @Nullable TenantPolicy unknown,
            Map<String, Group> groups,
            Map<String, List<QuotaRule>> groupQuotas,
            Map<String, Section> groupSections,
            Map<String, ShareSettings> classes,
            @Nullable Set<String> classNames) {
        static final Tenants NONE = new Tenants(
                new Identification(List.of()), null, Map.of(), null, Map.of(), Map.of(), Map.of(), Map.of(), null);
    }
}
