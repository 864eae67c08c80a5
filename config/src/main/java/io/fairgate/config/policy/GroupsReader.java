package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.QuotaRule;
import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code tenants.groups}, the tree above the tenants. */
final class GroupsReader {
    /** The groups without mistakes. */
    final Map<String, Group> groups = new LinkedHashMap<>();
    /** The section of each of these groups. */
    final Map<String, Section> sections = new LinkedHashMap<>();
    /** The quotas of each group that has some. */
    final Map<String, List<QuotaRule>> quotas = new LinkedHashMap<>();

    /** The names of all groups, including groups with mistakes; null when they cannot be determined. */
    private final @Nullable Set<String> names;

    GroupsReader(Section tenants, QuotasReader reader) {
        names = tenants.names("groups");
        tenants.entries("groups").forEach((name, entry) -> {
            boolean isNamed = Names.isAllowed(name, entry);
            Section section = Section.open(entry, PolicyKeys.GROUP);
            Group group = new Group(shareOf(section), Names.reference(section, "parent", names, "group"));
            List<QuotaRule> rules = reader.read(section, PolicyKeys.GROUP_QUOTA);
            if (isNamed) {
                sections.put(name, section);
                groups.put(name, group);
                if (!rules.isEmpty()) {
                    quotas.put(name, rules);
                }
            }
        });
        groups.replaceAll((name, group) ->
                group.parent() == null || groups.containsKey(group.parent()) ? group : Group.of(group.settings()));
        sections.forEach(this::requireTree);
    }

    /** The group that a section names as its parent; null when it names none, or one with mistakes. */
    @Nullable
    String parent(Section section) {
        String parent = Names.reference(section, "parent", names, "group");
        return groups.containsKey(parent) ? parent : null;
    }

    /** Notes a group in itself, or nested too deep, as a mistake. It has no parent then, so that each is noted once. */
    private void requireTree(String name, Section section) {
        int nested = 1;
        for (String above = parentOf(name); above != null; above = parentOf(above)) {
            nested++;
            boolean isCircle = above.equals(name);
            Value parent = section.get("parent");
            if (parent != null && (isCircle || nested > ShareGroups.MAX_NESTING)) {
                parent.mistake(
                        isCircle
                                ? "a group that is not in this one"
                                : "at most %d nested groups".formatted(ShareGroups.MAX_NESTING));
                groups.computeIfPresent(name, (n, group) -> Group.of(group.settings()));
                return;
            }
        }
    }

    private @Nullable String parentOf(String name) {
        Group group = groups.get(name);
        return group == null ? null : group.parent();
    }

    /** The share settings of a plan, a member, a group or a class, with what it inherits. */
    static ShareSettings shareOf(Section section) {
        ShareSettings settings = section.accepted(GroupsReader::share);
        return settings == null ? ShareSettings.EQUAL : settings;
    }

    private static ShareSettings share(Section keys) {
        ShareSettings equal = ShareSettings.EQUAL;
        int reserved = keys.integer("reserved", equal.reserved());
        boolean isDerived = !keys.has("guaranteed");
        try {
            return new ShareSettings(
                    keys.decimal("weight", equal.weight()),
                    keys.integer("max-in-flight", equal.maxInFlight()),
                    keys.integer("max-waiting", equal.maxWaiting()),
                    isDerived ? reserved : keys.integer("guaranteed", equal.guaranteed()),
                    reserved);
        } catch (IllegalArgumentException e) {
            // The record does not know that the guarantee is what is reserved.
            throw isDerived
                    ? new IllegalArgumentException(
                            String.valueOf(e.getMessage()).replaceFirst("^guaranteed:", "reserved:"), e)
                    : e;
        }
    }
}
