package io.fairgate.config.policy;

import io.fairgate.config.model.Warning;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.shares.ShareGroups.Group;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds plans, groups, classes and pools that nothing uses. */
record UnusedNames(Section file, Policy policy) {

    void warnOfPlansAndGroups() {
        Set<String> plans = new HashSet<>();
        Set<String> parents = new HashSet<>();
        for (TenantPolicy tenant : policy.tenants()) {
            plans.add(tenant.plan());
            parents.add(String.valueOf(tenant.parent()));
        }
        for (Group group : policy.groups().values()) {
            parents.add(String.valueOf(group.parent()));
        }
        unused(named("plans"), plans).forEach(plan -> plan.warn("no tenant has this plan"));
        unused(named("groups"), parents).forEach(group -> group.warn("no tenant and no group is in this group"));
    }

    void warnOfClasses(Set<String> used) {
        unused(named("classes"), used).forEach(unused -> unused.warn("no route names this class"));
    }

    void warnOfUpstreams(Set<String> used) {
        unused(file.entries("upstreams"), used).forEach(unused -> unused.warn("no route names this upstream"));
    }

    List<Warning> pools(Set<String> used) {
        return unused(file.entries("pools"), used).stream()
                .map(pool -> pool.warning("no route uses this pool, and leases are off (fairgate.leases.enabled)"))
                .toList();
    }

    private Map<String, Value> named(String part) {
        Value tenants = file.get("tenants");
        Map<String, Value> parts = tenants == null ? null : tenants.entriesOrNull();
        Value named = parts == null ? null : parts.get(part);
        Map<String, Value> entries = named == null ? null : named.entriesOrNull();
        return entries == null ? Map.of() : entries;
    }

    private static List<Value> unused(Map<String, Value> named, Set<String> used) {
        return named.entrySet().stream()
                .filter(entry -> !used.contains(entry.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }
}
