package io.fairgate.fairness;

import io.fairgate.shares.ShareGroups;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** Random settings of tenants called t0, t1 and so on, in groups and with classes c1 to c3, or without. */
public final class RandomTree {

    private static final double[] EXTREME = {0.001, 0.5, 1, 1, 1.7, 3, 100, 1e6};
    private static final double[] MODERATE = {0.5, 1, 1, 1.7, 3, 10};
    private static final int MOST_GROUPS = 5;

    private final Random random;
    private final boolean plain;
    private final int permits;
    private int free;

    private final double[] weights;

    private RandomTree(int seed, int permits, double[] weights) {
        this.weights = weights;
        this.random = new Random(seed);
        this.plain = random.nextInt(3) == 0;
        this.permits = permits;
        this.free = permits;
    }

    /** All tenants are siblings; together they reserve at most the permits. */
    public static TenantShares flat(int seed, int permits, int tenants) {
        return new TenantShares(new RandomTree(seed, permits, EXTREME).members(tenants), ShareSettings.EQUAL);
    }

    /** Some tenants are in groups, some groups in others, and some requests have classes. */
    public static TenantShares shares(int seed, int permits, int tenants) {
        return new RandomTree(seed, permits, EXTREME).shares(tenants);
    }

    /** The same with weights so similar that the rounding of one does not show in another. */
    public static TenantShares moderate(int seed, int permits, int tenants) {
        return new RandomTree(seed, permits, MODERATE).shares(tenants);
    }

    /** The settings of a gateway, or a memory and collections so short that they end often. */
    public static FairnessSettings settings(Random random) {
        return random.nextBoolean()
                ? FairnessSettings.USUAL
                : new FairnessSettings(
                        Duration.ofMillis(1 + random.nextInt(random.nextBoolean() ? 1_000 : 100_000)),
                        random.nextBoolean()
                                ? FairnessSettings.UNBOUNDED
                                : Duration.ofMillis(1 + random.nextInt(3_000)));
    }

    private TenantShares shares(int tenants) {
        Map<TenantId, ShareSettings> members = members(tenants);
        int groups = random.nextInt(MOST_GROUPS + 1);
        int[] parents = new int[groups];
        for (int i = 0; i < groups; i++) {
            parents[i] = i == 0 || random.nextBoolean() ? -1 : random.nextInt(i);
        }
        Map<TenantId, String> groupOf = new LinkedHashMap<>();
        int[] reservedIn = new int[groups];
        for (Map.Entry<TenantId, ShareSettings> member : members.entrySet()) {
            int group = groups == 0 ? -1 : random.nextInt(groups + 1) - 1;
            if (group >= 0) {
                groupOf.put(member.getKey(), "g" + group);
                reservedIn[group] += member.getValue().reserved();
            }
        }
        Map<String, Group> byName = new LinkedHashMap<>();
        Map<Integer, Group> made = new LinkedHashMap<>();
        for (int i = groups - 1; i >= 0; i--) {
            ShareSettings settings = group(reservedIn[i]);
            if (parents[i] >= 0) {
                reservedIn[parents[i]] += Math.max(reservedIn[i], settings.reserved());
            }
            made.put(i, new Group(settings, parents[i] < 0 ? null : "g" + parents[i]));
        }
        for (int i = 0; i < groups; i++) {
            byName.put("g" + i, made.getOrDefault(i, Group.of(ShareSettings.EQUAL)));
        }
        return new TenantShares(members, ShareSettings.EQUAL, new ShareGroups(byName, groupOf), classes(), null);
    }

    private Map<TenantId, ShareSettings> members(int tenants) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        for (int i = 0; i < tenants && random.nextInt(4) > 0; i++) {
            ShareSettings settings = ShareSettings.ofWeight(weight());
            if (!plain && random.nextInt(3) == 0) {
                settings = settings.withMaxInFlight(1 + random.nextInt(permits));
            }
            if (!plain && random.nextInt(3) == 0) {
                int guaranteed = random.nextInt(Math.min(permits, settings.maxInFlight()) + 1);
                int reserved = random.nextBoolean() ? 0 : random.nextInt(Math.min(free, guaranteed) + 1);
                free -= reserved;
                settings = settings.withGuaranteed(guaranteed, reserved);
            }
            members.put(TenantId.of("t" + i), settings);
        }
        return members;
    }

    /** The permits that its members have reserved. */
    private ShareSettings group(int within) {
        ShareSettings settings = ShareSettings.ofWeight(weight());
        if (!plain && random.nextBoolean()) {
            settings = settings.withMaxInFlight(Math.max(1, within + random.nextInt(permits)));
        }
        if (!plain && random.nextInt(3) == 0) {
            int more = random.nextInt(free + 1);
            int reserved = random.nextBoolean() || within + more > settings.maxInFlight() ? 0 : within + more;
            free -= reserved == 0 ? 0 : more;
            int guaranteed = reserved + random.nextInt(Math.min(permits, settings.maxInFlight() - reserved) + 1);
            settings = settings.withGuaranteed(guaranteed, reserved);
        }
        return settings;
    }

    private Map<String, ShareSettings> classes() {
        Map<String, ShareSettings> classes = new LinkedHashMap<>();
        for (int i = 1; i <= 3 && random.nextBoolean(); i++) {
            ShareSettings settings = ShareSettings.ofWeight(weight());
            if (!plain && random.nextInt(3) == 0) {
                settings = settings.withMaxInFlight(1 + random.nextInt(permits));
            }
            if (!plain && random.nextInt(3) == 0) {
                settings = settings.withGuaranteed(random.nextInt(Math.min(permits, settings.maxInFlight()) + 1), 0);
            }
            classes.put("c" + i, settings);
        }
        return classes;
    }

    private double weight() {
        return random.nextBoolean() ? 1 : weights[random.nextInt(weights.length)];
    }
}
