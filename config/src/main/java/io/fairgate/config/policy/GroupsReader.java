package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.Refusal;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.fairness.ShareGroups;
import io.fairgate.fairness.ShareGroups.Group;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code tenants.groups}, the tree above the tenants, and {@code tenants.classes}, the classes of requests below
 * each tenant.
 */
final class GroupsReader {
    private static final String PARENT = "the name of a group";

    private final Map<String, Group> groups = new LinkedHashMap<>();
    private final Map<String, List<QuotaRule>> quotas = new LinkedHashMap<>();
    private final Map<String, Section> sections = new LinkedHashMap<>();

    /** The names of all groups, including groups with mistakes; null when they cannot be determined. */
    private @Nullable Set<String> names = Set.of();

    /** @param value null when the file has no groups */
    static GroupsReader read(@Nullable Value value, boolean isMentioned, QuotasReader quotas) {
        GroupsReader reader = new GroupsReader();
        if (value != null) {
            reader.readAll(value, quotas);
        } else if (isMentioned) {
            reader.names = null;
        }
        return reader;
    }

    /** The groups without mistakes. */
    Map<String, Group> groups() {
        return groups;
    }

    /** The quotas of each group that has some. */
    Map<String, List<QuotaRule>> quotas() {
        return quotas;
    }

    private void readAll(Value value, QuotasReader reader) {
        Map<String, Value> entries = value.entries("a mapping of groups by name");
        names = entries == null ? null : entries.keySet();
        if (entries == null) {
            return;
        }
        entries.forEach((name, entry) -> {
            boolean named = Names.isAllowed(name, entry);
            Section section = Section.open(entry, PolicyKeys.GROUP);
            if (section == null) {
                return;
            }
            ShareSettings settings = ShareReader.settings(ShareReader.read(new Given(section)));
            Value parent = section.get("parent");
            Value own = section.get("quotas");
            List<QuotaRule> rules = own == null ? List.of() : reader.read(own, PolicyKeys.GROUP_QUOTA);
            if (named && !rules.isEmpty()) {
                quotas.put(name, rules);
            }
            if (named) {
                sections.put(name, section);
                groups.put(name, new Group(settings, parent == null ? null : parent(parent)));
            }
        });
        groups.replaceAll((name, group) ->
                group.parent() == null || groups.containsKey(group.parent()) ? group : Group.of(group.settings()));
        for (String name : groups.keySet().toArray(String[]::new)) {
            requireTree(name);
        }
    }

    /** The name of a group of the file. Notes a mistake and returns null for an unknown group. */
    @Nullable
    String parent(Value value) {
        String name = value.text(PARENT);
        return name != null && Names.isKnown(name, names, value, "a group") ? name : null;
    }

    /**
     * Notes a mistake for a group that contains itself or is nested too deep. The group then counts as one without a
     * parent, so that each mistake is noted once.
     */
    private void requireTree(String name) {
        int nested = 1;
        for (String above = parentOf(name); above != null; above = parentOf(above)) {
            nested++;
            boolean isCircle = above.equals(name);
            if (isCircle || nested > ShareGroups.MAX_NESTING) {
                Value parent =
                        sections.get(name) == null ? null : sections.get(name).get("parent");
                if (parent != null) {
                    parent.mistake(
                            isCircle
                                    ? "a group that is not in this one"
                                    : "at most %d groups one in another".formatted(ShareGroups.MAX_NESTING));
                }
                groups.computeIfPresent(name, (n, group) -> Group.of(group.settings()));
                return;
            }
        }
    }

    private @Nullable String parentOf(String name) {
        Group group = groups.get(name);
        return group == null ? null : group.parent();
    }

    /** Notes a mistake for each group that is too small for the reservations in it. */
    void checkReservations(Iterable<TenantPolicy> tenants) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        Map<TenantId, String> parents = new LinkedHashMap<>();
        for (TenantPolicy tenant : tenants) {
            members.put(tenant.id(), tenant.share());
            if (tenant.parent() != null) {
                parents.put(tenant.id(), tenant.parent());
            }
        }
        while (true) {
            try {
                var unused = new TenantShares(
                        members, ShareSettings.EQUAL, new ShareGroups(groups, parents), Map.of(), null);
                return;
            } catch (IllegalArgumentException e) {
                Refusal refusal = Refusal.of(e);
                String[] key = refusal.key().split("\\.(?=[a-z-]+$)", 2);
                String name = key[0].replaceFirst("^groups\\.", "");
                Section section = sections.get(name);
                if (section == null || key.length < 2) {
                    throw e;
                }
                section.mistake(key[1], refusal);
                groups.computeIfPresent(name, (n, group) -> new Group(ShareSettings.EQUAL, group.parent()));
            }
        }
    }

    // ---- classes ----

    static Map<String, ShareSettings> classes(Value value) {
        Map<String, Value> entries = value.entries("a mapping of classes of requests by name");
        Map<String, ShareSettings> classes = new LinkedHashMap<>();
        if (entries != null) {
            entries.forEach((name, entry) -> {
                boolean named = Names.isAllowed(name, entry);
                Section section = Section.open(entry, PolicyKeys.CLASS);
                if (section != null) {
                    ShareSettings settings = ShareReader.settings(ShareReader.read(new Given(section)));
                    if (named && settings.reserved() == 0) {
                        classes.put(name, settings);
                    }
                }
            });
        }
        return classes;
    }
}
