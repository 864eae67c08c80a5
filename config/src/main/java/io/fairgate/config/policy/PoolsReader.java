package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code pools}. */
final class PoolsReader {
    private static final String ON_CLIENT_LEFT = "finish or close";

    private PoolsReader() {}

    static Pools read(Value value) {
        Map<String, Value> entries = value.entries("a mapping of pools by name");
        if (entries == null) {
            return Pools.absent(true);
        }
        Map<String, Pool> pools = new LinkedHashMap<>();
        entries.forEach((name, entry) -> {
            boolean named = Names.isAllowed(name, entry);
            Pool pool = pool(entry);
            if (named && pool != null) {
                pools.put(name, pool);
            }
        });
        return new Pools(pools, entries.keySet());
    }

    private static @Nullable Pool pool(Value value) {
        Section section = Section.open(value, PolicyKeys.POOL);
        if (section == null) {
            return null;
        }
        section.require("permits", "how many requests may be in flight at once");
        Given given = new Given(section)
                .read("permits", Value::integer)
                .read("max-waiting", Value::integer)
                .read("max-wait", Value::duration)
                .read("max-hold", Value::duration)
                .read("memory", Value::duration)
                .read("max-collect", Value::duration);
        Value leases = section.get("lease");
        LeaseBounds bounds = leases == null ? LeaseBounds.USUAL : leaseBounds(leases);
        Value left = section.get("on-client-left");
        OnClientLeft onClientLeft = left == null ? null : onClientLeft(left);
        PoolSettings settings = given.accepted(keys -> new PoolSettings(
                keys.integer("permits", 1),
                keys.integer("max-waiting", PoolSettings.DEFAULT_MAX_WAITING),
                keys.duration("max-wait", PoolSettings.DEFAULT_MAX_WAIT),
                keys.duration("max-hold", PoolSettings.DEFAULT_MAX_HOLD),
                bounds,
                keys.duration("memory", FairnessSettings.DEFAULT_MEMORY),
                keys.durationIfGiven("max-collect"),
                onClientLeft == null ? OnClientLeft.FINISH : onClientLeft));
        // A pool without valid permits is noted already, and cannot be compared with the reservations.
        Value enforce = section.get("enforce");
        boolean enforced = enforce == null || !Boolean.FALSE.equals(enforce.truth());
        return settings == null || !given.has("permits") ? null : new Pool(section, settings, enforced);
    }

    /** Notes a mistake and returns null for any other word. */
    static @Nullable OnClientLeft onClientLeft(Value value) {
        String text = value.text(ON_CLIENT_LEFT);
        for (OnClientLeft each : OnClientLeft.values()) {
            if (each.name().toLowerCase(Locale.ROOT).equals(text)) {
                return each;
            }
        }
        if (text != null) {
            value.mistake(ON_CLIENT_LEFT);
        }
        return null;
    }

    /** Notes mistakes, and uses the default for each value that has one. */
    private static LeaseBounds leaseBounds(Value value) {
        Section section = Section.open(value, PolicyKeys.LEASE);
        if (section == null) {
            return LeaseBounds.USUAL;
        }
        LeaseBounds bounds = new Given(section)
                .read("max-ttl", Value::duration)
                .read("max-hold", Value::duration)
                .accepted(keys -> new LeaseBounds(
                        keys.duration("max-ttl", LeaseBounds.USUAL.maxTtl()),
                        keys.duration("max-hold", LeaseBounds.USUAL.maxHold())));
        return bounds == null ? LeaseBounds.USUAL : bounds;
    }

    /** A pool and its section of the file. */
    record Pool(Section section, PoolSettings settings, boolean enforced) {}

    /**
     * All pools.
     *
     * @param pools those without a mistake
     * @param names the pools that routes may name, including pools with mistakes; null when they cannot be determined
     */
    record Pools(Map<String, Pool> pools, @Nullable Set<String> names) {
        static Pools absent(boolean broken) {
            return new Pools(Map.of(), broken ? null : Set.of());
        }
    }
}
