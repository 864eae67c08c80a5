package io.fairgate.shares;

import io.fairgate.tenant.TenantId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What tenants, groups and classes may claim of a pool. Without groups and classes all tenants are siblings; groups make a
 * tree of them, and classes divide what each tenant gets between kinds of its requests:
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
 * @param others the settings of each tenant that is not a member; such tenants are in no group
 * @param groups the groups, and the group of each member
 * @param classes kinds of requests within a tenant, the same in each tenant; they cannot reserve. In a tenant with requests
 *     of these classes, requests without a class or of another class form one more class, {@link ShareSettings#EQUAL}
 * @param calculator calculates a cap for every tenant from the number of active tenants; null for none
 */
public record TenantShares(
        Map<TenantId, ShareSettings> members,
        ShareSettings others,
        ShareGroups groups,
        Map<String, ShareSettings> classes,
        @Nullable ShareCalculator calculator) {

    /** All tenants have equal settings. */
    public static final TenantShares EQUAL = new TenantShares(Map.of(), ShareSettings.EQUAL);

    /** Without groups, classes and a calculator. */
    public TenantShares(Map<TenantId, ShareSettings> members, ShareSettings others) {
        this(members, others, ShareGroups.NONE, Map.of(), null);
    }

    /**
     * @throws IllegalArgumentException when {@code others} or classes reserve permits, because the number of such tenants is
     *     not known; when the tenants and groups in a group reserve more than the group reserves or may hold; when a tenant
     *     in a group is not a member
     */
    public TenantShares {
        // Keeps the given order, which breaks ties: Map.copyOf has another order in every process.
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

    /** The settings of a class within its tenant; {@code EQUAL} for null and for a class that is not configured. */
    public ShareSettings ofClass(@Nullable String requestClass) {
        return requestClass == null ? ShareSettings.EQUAL : classes.getOrDefault(requestClass, ShareSettings.EQUAL);
    }

    /**
     * Whether the tenant may take a free permit on the fast path, without a decision of the scheduler: neither the tenant nor
     * a group that contains it has a cap or a reservation, no class has a cap, and there is no calculator.
     *
     * @param tenant null for a tenant that is not a member
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

    /** The sum of the permits that members and groups reserve. */
    public long reserved() {
        return groups.reserved(members);
    }

    /**
     * Checks that a pool of this size is large enough.
     *
     * @throws IllegalArgumentException when the reservations exceed {@code permits}, or a calculated cap is below 1
     */
    public void requireFit(int permits) {
        if (reserved() > permits) {
            throw new IllegalArgumentException(
                    "permits: %d (expected: at least %d, which the tenants reserve)".formatted(permits, reserved()));
        }
        var unused = calculatedCaps(permits);
    }

    /**
     * The cap of every tenant for each number of active tenants from 1 on; the last one is for larger numbers as well.
     * Calculated in advance, because no code of a user runs while permits are granted.
     *
     * @throws IllegalArgumentException when the calculator returns less than 1
     */
    public int[] calculatedCaps(int permits) {
        if (calculator == null) {
            return new int[] {ShareSettings.UNBOUNDED};
        }
        int[] caps = new int[Math.min(permits, ShareCalculator.MOST_TENANTS)];
        for (int i = 0; i < caps.length; i++) {
            caps[i] = calculator.maxInFlight(permits, i + 1);
            if (caps[i] < 1) {
                throw new IllegalArgumentException(
                        "calculator: %d for %d permits and %d active tenants (expected: >= 1)"
                                .formatted(caps[i], permits, i + 1));
            }
        }
        return caps;
    }

    /**
     * The same without reservations. Instead, a tenant's cap leaves free what the others reserve: it is the most that the tenant could have
     * of the pool while all others are idle, and at least 1. For a process that grants only a part of a pool, because the permits that
     * stay free for a tenant are not in this part.
     *
     * @param permits of the pool
     */
    public TenantShares withCapsForReservations(int permits) {
        long reserved = reserved();
        if (reserved == 0) {
            return this;
        }
        Map<TenantId, ShareSettings> capped = new LinkedHashMap<>();
        Map<TenantId, Long> most = groups.mostAlone(members, permits);
        members.forEach(
                (tenant, settings) -> capped.put(tenant, withoutReservation(settings, most.getOrDefault(tenant, 1L))));
        return new TenantShares(
                capped,
                withoutReservation(others, permits - reserved),
                groups.withoutReservations(),
                classes,
                calculator);
    }

    private static ShareSettings withoutReservation(ShareSettings settings, long most) {
        int cap = (int) Math.max(1, Math.min(settings.maxInFlight(), most));
        return settings.withGuaranteed(Math.min(settings.guaranteed(), cap), 0).withMaxInFlight(cap);
    }

    /** With settings for one tenant, which is in no group. */
    public TenantShares withMember(TenantId tenant, ShareSettings settings) {
        return new TenantShares(put(members, tenant, settings), others, groups.without(tenant), classes, calculator);
    }

    /**
     * With settings for one tenant, which is in a group.
     *
     * @throws IllegalArgumentException when there is no such group
     */
    public TenantShares withMember(TenantId tenant, ShareSettings settings, String group) {
        return new TenantShares(
                put(members, tenant, settings), others, groups.withMember(tenant, group), classes, calculator);
    }

    /**
     * With one more group, or with other settings for an existing group.
     *
     * @throws IllegalArgumentException when the parent of the group does not exist, or is in this group
     */
    public TenantShares withGroup(String name, ShareGroups.Group group) {
        return new TenantShares(members, others, groups.withGroup(name, group), classes, calculator);
    }

    /** With one more class of requests, the same in each tenant. */
    public TenantShares withClass(String name, ShareSettings settings) {
        return new TenantShares(members, others, groups, put(classes, name, settings), calculator);
    }

    /**
     * With a calculator of the cap of every tenant. Permits that these caps let no tenant use stay idle, and every request
     * is decided by the scheduler, also while permits are free.
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
