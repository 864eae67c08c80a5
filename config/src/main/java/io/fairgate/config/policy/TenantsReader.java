package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.fairness.ShareGroups.Group;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.policy.ApiKeys;
import io.fairgate.policy.Identification;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
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

    private final Map<String, Plan> plans = new HashMap<>();

    /** The names of all plans, including plans with mistakes; null when they cannot be determined. */
    private @Nullable Set<String> planNames = Set.of();

    /** The names of all members, including members with mistakes; null when they cannot be determined. */
    private @Nullable Set<String> memberNames = Set.of();

    private final QuotasReader quotas;
    private GroupsReader groups;
    private CredentialsReader credentials = new CredentialsReader(IdentityReader.Ways.NONE);

    private TenantsReader(QuotasReader quotas) {
        this.quotas = quotas;
        groups = GroupsReader.read(null, false, quotas);
    }

    /** @param routes the ids that quotas may name; null when they cannot be determined */
    static Tenants read(Value value, @Nullable Set<String> routes) {
        Section section = Section.open(value, PolicyKeys.TENANTS);
        return section == null ? Tenants.NONE : new TenantsReader(new QuotasReader(routes)).tenants(section);
    }

    private Tenants tenants(Section section) {
        Value identify = section.require("identify", "a list of ways to identify a tenant");
        IdentityReader.Ways ways = identify == null ? IdentityReader.Ways.NONE : IdentityReader.read(identify);
        credentials = new CredentialsReader(ways);
        groups = GroupsReader.read(section.get("groups"), section.mentions("groups"), quotas);
        Value classes = section.get("classes");
        Value plansValue = section.get("plans");
        if (plansValue != null) {
            readPlans(plansValue);
        } else if (section.mentions("plans")) {
            planNames = null;
        }
        Value members = section.get("members");
        Value unknown = section.get("unknown");
        Map<TenantId, TenantPolicy> read = Map.of();
        if (members != null) {
            read = members(members);
        } else if (section.mentions("members")) {
            memberNames = null;
        }
        TenantPolicy others = unknown == null ? null : unknown(unknown);
        List<TenantPolicy> all = new ArrayList<>(read.values());
        if (others != null) {
            all.add(others);
        }
        groups.checkReservations(all);
        return new Tenants(
                identification(ways, section),
                tenantNames(section),
                read,
                others,
                groups.groups(),
                groups.quotas(),
                classes == null ? Map.of() : GroupsReader.classes(classes),
                classNames(section));
    }

    private static @Nullable Set<String> classNames(Section section) {
        Value classes = section.get("classes");
        if (classes == null) {
            return section.mentions("classes") ? null : Set.of();
        }
        Map<String, Value> entries = classes.entries("a mapping of classes of requests by name");
        return entries == null ? null : entries.keySet();
    }

    /**
     * Leaves out the credentials of members when a way has a mistake, because then it is unknown which way they belong
     * to.
     */
    private Identification identification(IdentityReader.Ways ways, Section section) {
        String forwardAs = forwardAs(section);
        return ways.complete()
                ? new Identification(ways.sources(), forwardAs, credentials.apiKeys(), credentials.certificates())
                : new Identification(ways.sources());
    }

    private static @Nullable String forwardAs(Section section) {
        Identification read = new Given(section)
                .read("forward-as", value -> value.text("the name of an HTTP header, or none"))
                .accepted(keys -> {
                    String name = keys.text("forward-as", Identification.DEFAULT_FORWARD_AS);
                    return new Identification(List.of(), name.equals(NONE) ? null : name, ApiKeys.NONE, Map.of());
                });
        return read == null ? null : read.forwardAs();
    }

    private @Nullable Set<String> tenantNames(Section section) {
        if (memberNames == null) {
            return null;
        }
        Set<String> names = new LinkedHashSet<>(memberNames);
        Value unknown = section.get("unknown");
        if (unknown != null && !REFUSE.equals(unknown.scalar())) {
            names.add(TenantId.UNKNOWN.value());
        }
        return names;
    }

    private Given share(Given given) {
        return ShareReader.read(given).read("parent", groups::parent);
    }

    /** The group of a tenant; null when it has none, or the group has mistakes. */
    private @Nullable String parent(Given share) {
        String parent = share.text("parent", "");
        return groups.groups().containsKey(parent) ? parent : null;
    }

    private void readPlans(Value value) {
        Map<String, Value> entries = value.entries("a mapping of plans by name");
        planNames = entries == null ? null : entries.keySet();
        if (entries == null) {
            return;
        }
        entries.forEach((name, entry) -> {
            if (name.equals(REFUSE)) {
                entry.mistake("a plan of this name", "another name, because unknown: refuse lets nobody in");
            } else {
                Names.isAllowed(name, entry);
            }
            Section section = Section.open(entry, PolicyKeys.PLAN);
            if (section != null) {
                Given share = share(new Given(section));
                // The settings are read here as well, so that a plan without members is checked.
                ShareReader.settings(share);
                Value own = section.get("quotas");
                plans.put(name, new Plan(share, own == null ? List.of() : quotas.read(own, PolicyKeys.PLAN_QUOTA)));
            }
        });
    }

    private Map<TenantId, TenantPolicy> members(Value value) {
        Map<String, Value> entries = value.entries("a mapping of members by tenant id");
        memberNames = entries == null ? null : entries.keySet();
        Map<TenantId, TenantPolicy> members = new LinkedHashMap<>();
        for (Map.Entry<String, Value> entry :
                entries == null ? Set.<Map.Entry<String, Value>>of() : entries.entrySet()) {
            boolean named = Names.isAllowed(entry.getKey(), entry.getValue());
            Section section = Section.open(entry.getValue(), PolicyKeys.MEMBER);
            TenantId id = named ? TenantId.of(entry.getKey()) : TenantId.UNKNOWN;
            TenantPolicy member = section == null ? null : member(id, section);
            if (named && member != null) {
                members.put(id, member);
            }
        }
        return members;
    }

    private TenantPolicy member(TenantId id, Section section) {
        credentials.read(id, section);
        Value planValue = section.require("plan", "the name of a plan");
        String planName = planValue == null ? null : planName(planValue);
        Plan plan = planName == null ? null : plans.get(planName);
        Given share = share(new Given(section, plan == null ? null : plan.share, "of the plan " + planName));
        Value list = section.get("quotas");
        List<QuotaRule> own = list == null ? null : quotas.read(list, PolicyKeys.MEMBER_QUOTA);
        List<QuotaRule> inherited = plan == null ? List.of() : plan.quotas;
        return new TenantPolicy(
                id,
                planName == null ? "" : planName,
                parent(share),
                ShareReader.settings(share),
                own == null ? inherited : own);
    }

    private @Nullable TenantPolicy unknown(Value value) {
        String name = value.text("refuse, or the name of a plan");
        if (name == null || name.equals(REFUSE)) {
            return null;
        }
        Set<String> known = null;
        if (planNames != null) {
            known = new LinkedHashSet<>(planNames);
            known.add(REFUSE);
        }
        Plan plan = Names.isKnown(name, known, value, "refuse or a plan") ? plans.get(name) : null;
        return plan == null
                ? null
                : new TenantPolicy(
                        TenantId.UNKNOWN, name, parent(plan.share), ShareReader.settings(plan.share), plan.quotas);
    }

    private @Nullable String planName(Value value) {
        String name = value.text("the name of a plan");
        return name != null && Names.isKnown(name, planNames, value, "a plan") ? name : null;
    }

    /** The part of a plan that has no mistakes. */
    private record Plan(Given share, List<QuotaRule> quotas) {}

    /**
     * The part of {@code tenants} that has no mistakes.
     *
     * @param tenantNames the tenants that routes may name, including members with mistakes; null when they cannot be
     *     determined
     * @param classNames the classes that routes may name, including classes with mistakes; null when they cannot be
     *     determined
     */
    record Tenants(
            Identification identification,
            @Nullable Set<String> tenantNames,
            Map<TenantId, TenantPolicy> members,
            @Nullable TenantPolicy unknown,
            Map<String, Group> groups,
            Map<String, List<QuotaRule>> groupQuotas,
            Map<String, ShareSettings> classes,
            @Nullable Set<String> classNames) {
        static final Tenants NONE =
                new Tenants(new Identification(List.of()), null, Map.of(), null, Map.of(), Map.of(), Map.of(), null);
    }
}
