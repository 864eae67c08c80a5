package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who may claim what of a pool. Without groups and classes all tenants are siblings; groups make a tree of them, and
 * classes divide what each tenant has between kinds of its requests:
 *
 * <pre>{@code
 * TenantShares.EQUAL
 *         .withGroup("acme", Group.of(ShareSettings.EQUAL.withMaxInFlight(20)))
 *         .withMember("acme-shop", ShareSettings.ofWeight(2), "acme")
 *         .withMember("acme-lab", ShareSettings.EQUAL, "acme")
 *         .withClass("batch", ShareSettings.EQUAL.withMaxInFlight(4));
 * }</pre>
 *
 * @param members tenants with settings of their own; only these can have a reservation
 * @param others the settings of each tenant that is not a member; these are in no group
 * @param groups the groups, and which member is in which
 * @param classes kinds of requests within a tenant, the same in each; they cannot reserve. Requests without a class, or
 *     of one that is not here, are a class of their own in a tenant that has others as well, {@link ShareSettings#EQUAL}
 * @param calculator a cap of every tenant that depends on how many are active; null for none
 */
public record TenantShares(
        Map<TenantId, ShareSettings> members,
        ShareSettings others,
        ShareGroups groups,
        Map<String, ShareSettings> classes,
        @Nullable ShareCalculator calculator) {

    /** Every tenant is equal. */
    public static final TenantShares EQUAL = new TenantShares(Map.of(), ShareSettings.EQUAL);

    /** All tenants are siblings. */
    public TenantShares(Map<TenantId, ShareSettings> members, ShareSettings others) {
        this(members, others, ShareGroups.NONE, Map.of(), null);
    }

    /**
     * @throws IllegalArgumentException when {@code others} or classes reserve permits: nobody knows how many will come;
     *     when what is below a group reserves more than the group reserves or may hold; when who is in a group is no member
     */
    public TenantShares {
        // In the given order, which breaks ties: Map.copyOf has another order in every process.
        members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        classes = Collections.unmodifiableMap(new LinkedHashMap<>(classes));
        if (others.reserved() > 0) {
            throw new IllegalArgumentException(
                    "others reserve %d (expected: 0, only a member can reserve)".formatted(others.reserved()));
        }
        classes.forEach(TenantShares::requireClass);
        for (TenantId tenant : groups.parents().keySet()) {
            if (!members.containsKey(tenant)) {
                throw new IllegalArgumentException(
                        "members.%s: not a member (expected: only members are in groups)".formatted(tenant));
            }
        }
        groups.requireReservationsFit(members);
    }

    private static void requireClass(String name, ShareSettings settings) {
        if (!TenantId.isWellFormed(name)) {
            throw new IllegalArgumentException("classes: a name of %d characters (expected: 1 to %d of [A-Za-z0-9._-])"
                    .formatted(name.length(), TenantId.MAX_LENGTH));
        }
        if (settings.reserved() > 0) {
            throw new IllegalArgumentException(
                    "classes.%s.reserved: %d (expected: 0, because each tenant has each class)"
                            .formatted(name, settings.reserved()));
        }
    }

    public ShareSettings of(TenantId tenant) {
        return members.getOrDefault(tenant, others);
    }

    /** The settings of a class within its tenant; null, or a class that is not configured, is a request without one. */
    ShareSettings ofClass(@Nullable String requestClass) {
        return requestClass == null ? ShareSettings.EQUAL : classes.getOrDefault(requestClass, ShareSettings.EQUAL);
    }

    /**
     * Whether the tenant, or with null one that is not a member, may take a free permit without being counted first:
     * neither it nor a group that it is in has a cap or a reservation, no class has a cap, and there is no calculator.
     */
    public boolean mayTakeUnasked(@Nullable TenantId tenant) {
        return calculator == null
                && isUnbounded(tenant == null ? others : of(tenant))
                && (tenant == null || groups.above(tenant).stream().allMatch(group -> isUnbounded(group.settings())))
                && classes.values().stream().allMatch(TenantShares::isUnbounded);
    }

    private static boolean isUnbounded(ShareSettings settings) {
        return settings.maxInFlight() == ShareSettings.UNBOUNDED && settings.reserved() == 0;
    }

    /** Permits that all members and groups reserve together. */
    public long reserved() {
        return groups.reserved(members);
    }

    /**
     * Refuses a pool that is too small for them.
     *
     * @throws IllegalArgumentException when they reserve more permits, or the calculator says less than 1 for so many
     */
    public void requireFit(int permits) {
        if (reserved() > permits) {
            throw new IllegalArgumentException(
                    "permits: %d (expected: at least %d, which the tenants reserve)".formatted(permits, reserved()));
        }
        var unused = CalculatedCaps.of(calculator, permits);
    }

    // ---- copies with one thing more ----

    /** With settings of a tenant's own, outside of groups. */
    public TenantShares withMember(TenantId tenant, ShareSettings settings) {
        return new TenantShares(put(members, tenant, settings), others, groups.without(tenant), classes, calculator);
    }

    /**
     * With settings of a tenant's own, in a group.
     *
     * @throws IllegalArgumentException when there is no such group
     */
    public TenantShares withMember(TenantId tenant, ShareSettings settings, String group) {
        return new TenantShares(
                put(members, tenant, settings), others, groups.withMember(tenant, group), classes, calculator);
    }

    /**
     * With a group, or with other settings for one.
     *
     * @throws IllegalArgumentException when the group that it is in does not exist, or is in this one
     */
    public TenantShares withGroup(String name, ShareGroups.Group group) {
        return new TenantShares(members, others, groups.withGroup(name, group), classes, calculator);
    }

    /** With a class of requests, the same in each tenant. */
    public TenantShares withClass(String name, ShareSettings settings) {
        return new TenantShares(members, others, groups, put(classes, name, settings), calculator);
    }

    /**
     * With a cap of every tenant that depends on how many are active. Permits that it leaves to nobody stay idle, and
     * requests of one permit have to ask the scheduler even while some are free.
     */
    public TenantShares withCalculator(ShareCalculator calculator) {
        return new TenantShares(members, others, groups, classes, calculator);
    }

    static <K, V> Map<K, V> put(Map<K, V> map, K key, V value) {
        Map<K, V> copy = new LinkedHashMap<>(map);
        copy.put(key, value);
        return copy;
    }
}
