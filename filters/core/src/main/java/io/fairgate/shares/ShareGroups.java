package io.fairgate.shares;

import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Groups of tenants, such as the tenants of one organisation, that compete for permits as one; a group can be in another
 * group. A group is not a tenant: no request can name it as its tenant. Groups and tenants have separate name spaces, so a
 * group and a tenant may have the same name.
 *
 * @param byName the groups
 * @param parents the group of each member; a member without an entry is in no group
 */
public record ShareGroups(Map<String, Group> byName, Map<TenantId, String> parents) {

    /** The most groups that may be nested in each other. */
    public static final int MAX_NESTING = 6;

    /** No name of a group: these are not empty. */
    static final String NO_GROUP = "";

    public static final ShareGroups NONE = new ShareGroups(Map.of(), Map.of());

    /**
     * One group.
     *
     * @param settings what the tenants in the group may claim together
     * @param parent the group that contains this group, or null
     */
    public record Group(ShareSettings settings, @Nullable String parent) {

        /** A group that is in no other group. */
        public static Group of(ShareSettings settings) {
            return new Group(settings, null);
        }
    }

    /** @throws IllegalArgumentException naming the group or member whose parent is unknown, circular or too deep */
    public ShareGroups {
        byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
        parents = Map.copyOf(parents);
        Map<String, Group> groups = byName;
        groups.forEach((name, group) -> {
            if (!TenantId.isWellFormed(name)) {
                throw new IllegalArgumentException(
                        "groups: a name of %d characters (expected: 1 to %d of [A-Za-z0-9._-])"
                                .formatted(name.length(), TenantId.MAX_LENGTH));
            }
            requireKnown("groups." + name, group.parent(), groups);
        });
        parents.forEach((tenant, group) -> requireKnown("members." + tenant, group, groups));
        groups.keySet().forEach(name -> requireNesting(name, groups));
    }

    private static void requireKnown(String key, @Nullable String parent, Map<String, Group> groups) {
        if (parent != null && !groups.containsKey(parent)) {
            throw new IllegalArgumentException("%s.parent: %s (expected: the name of a group)".formatted(key, parent));
        }
    }

    private static void requireNesting(String name, Map<String, Group> groups) {
        int nested = 1;
        for (String above = parentOf(name, groups); above != null; above = parentOf(above, groups)) {
            if (above.equals(name)) {
                throw new IllegalArgumentException("groups.%s.parent: %s (expected: a group that is not in this one)"
                        .formatted(name, parentOf(name, groups)));
            }
            nested++;
            if (nested > MAX_NESTING) {
                throw new IllegalArgumentException("groups.%s.parent: %s (expected: at most %d groups one in another)"
                        .formatted(name, parentOf(name, groups), MAX_NESTING));
            }
        }
    }

    private static @Nullable String parentOf(String name, Map<String, Group> groups) {
        Group group = groups.get(name);
        return group == null ? null : group.parent();
    }

    /** The names of the groups that a tenant is in, from the nearest to the outermost. */
    public List<String> namesAbove(TenantId tenant) {
        List<String> above = new ArrayList<>();
        for (String name = parents.get(tenant); name != null; name = parentOf(name, byName)) {
            above.add(name);
        }
        return above;
    }

    /** The groups that a tenant is in, from the nearest to the outermost. */
    List<Group> above(TenantId tenant) {
        return namesAbove(tenant).stream().map(this::group).toList();
    }

    private Group group(String name) {
        return Objects.requireNonNull(byName.get(name));
    }

    ShareGroups withGroup(String name, Group group) {
        return new ShareGroups(TenantShares.put(byName, name, group), parents);
    }

    ShareGroups withMember(TenantId tenant, String group) {
        return new ShareGroups(byName, TenantShares.put(parents, tenant, group));
    }

    ShareGroups without(TenantId tenant) {
        Map<TenantId, String> rest = new HashMap<>(parents);
        rest.remove(tenant);
        return new ShareGroups(byName, rest);
    }

    // ---- reservations: a group that reserves permits reserves at least what the tenants and groups in it reserve ----

    /** Permits that stay free for members and groups while all of them are idle. */
    long reserved(Map<TenantId, ShareSettings> members) {
        return reservedWithin(members).getOrDefault(NO_GROUP, 0L);
    }

    void requireReservationsFit(Map<TenantId, ShareSettings> members) {
        Map<String, Long> within = reservedWithin(members);
        byName.forEach((name, group) -> {
            ShareSettings settings = group.settings();
            long reserved = within.getOrDefault(name, 0L);
            if (settings.reserved() > 0 && reserved > settings.reserved()) {
                throw new IllegalArgumentException(
                        "groups.%s.reserved: %d (expected: 0, or at least %d, which those in it reserve together)"
                                .formatted(name, settings.reserved(), reserved));
            }
            if (reserved > settings.maxInFlight()) {
                throw new IllegalArgumentException(
                        "groups.%s.max-in-flight: %d (expected: at least %d, which those in it reserve together)"
                                .formatted(name, settings.maxInFlight(), reserved));
            }
        });
    }

    /** For each group and for {@link #NO_GROUP}, what the members and groups directly in it keep free. */
    Map<String, Long> reservedWithin(Map<TenantId, ShareSettings> members) {
        Map<String, Long> within = new HashMap<>();
        members.forEach((tenant, settings) ->
                within.merge(parents.getOrDefault(tenant, NO_GROUP), (long) settings.reserved(), Long::sum));
        // The deepest groups first, so that the sum of a group is complete before it is added to its parent's.
        List<String> names = new ArrayList<>(byName.keySet());
        names.sort((a, b) -> Integer.compare(depth(b), depth(a)));
        for (String name : names) {
            long keeps = Math.max(group(name).settings().reserved(), within.getOrDefault(name, 0L));
            within.merge(Objects.requireNonNullElse(group(name).parent(), NO_GROUP), keeps, Long::sum);
        }
        return within;
    }

    /** The most permits that each member can have while all others are idle: as caps of groups allow, less what others reserve. */
    Map<TenantId, Long> mostAlone(Map<TenantId, ShareSettings> members, int permits) {
        Map<String, Long> within = reservedWithin(members);
        Map<TenantId, Long> most = new HashMap<>();
        members.forEach((tenant, settings) -> most.put(tenant, mostAlone(tenant, settings, within, permits)));
        return most;
    }

    private long mostAlone(TenantId tenant, ShareSettings settings, Map<String, Long> within, int permits) {
        long ofOthers = 0;
        long keeps = settings.reserved();
        long most = Long.MAX_VALUE;
        for (String name : namesAbove(tenant)) {
            long all = within.getOrDefault(name, 0L);
            ofOthers += all - keeps;
            most = Math.min(most, group(name).settings().maxInFlight() - ofOthers);
            keeps = Math.max(all, group(name).settings().reserved());
        }
        ofOthers += within.getOrDefault(NO_GROUP, 0L) - keeps;
        return Math.min(most, permits - ofOthers);
    }

    ShareGroups withoutReservations() {
        Map<String, Group> changed = new LinkedHashMap<>();
        byName.forEach((name, group) -> changed.put(
                name, new Group(group.settings().withGuaranteed(group.settings().guaranteed(), 0), group.parent())));
        return new ShareGroups(changed, parents);
    }

    private int depth(String name) {
        int depth = 0;
        for (String above = parentOf(name, byName); above != null; above = parentOf(above, byName)) {
            depth++;
        }
        return depth;
    }
}
