package io.fairgate.config.policy;

import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.OnClientLeft;
import io.fairgate.permit.PoolSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code pools}. */
final class PoolsReader {

    private PoolsReader() {}

    /** @param upstreams the names of the upstreams of the file; null when they cannot be determined */
    static Pools read(Section file, @Nullable Set<String> upstreams) {
        Map<String, Pool> pools = new LinkedHashMap<>();
        file.entries("pools").forEach((name, value) -> {
            boolean isNamed = Names.isAllowed(name, value);
            Section section = Section.open(value, PolicyKeys.POOL);
            PoolSettings settings = settings(section);
            // A pool without valid permits is noted already, and cannot be compared with the reservations.
            if (isNamed && settings != null && section.has("permits")) {
                String upstream = Names.reference(section, "per-instance-of", upstreams, "upstream");
                pools.put(name, new Pool(section, settings, section.truth("enforce", true), upstream));
            }
        });
        return new Pools(pools, file.names("pools"));
    }

    private static @Nullable PoolSettings settings(Section section) {
        Value lease = section.get("lease");
        LeaseBounds leases = lease == null ? LeaseBounds.USUAL : leaseBounds(lease);
        return section.accepted(pool -> new PoolSettings(
                pool.integer("permits", 1),
                pool.integer("max-waiting", PoolSettings.DEFAULT_MAX_WAITING),
                pool.duration("max-wait", PoolSettings.DEFAULT_MAX_WAIT),
                pool.duration("max-hold", PoolSettings.DEFAULT_MAX_HOLD),
                leases,
                pool.duration("memory", FairnessSettings.DEFAULT_MEMORY),
                pool.duration("max-collect"),
                pool.word("on-client-left", OnClientLeft.FINISH)));
    }

    /** Notes mistakes, and uses the default for each value that has one. */
    private static LeaseBounds leaseBounds(Value value) {
        LeaseBounds bounds = Section.open(value, PolicyKeys.LEASE)
                .accepted(lease -> new LeaseBounds(
                        lease.duration("max-ttl", LeaseBounds.USUAL.maxTtl()),
                        lease.duration("max-hold", LeaseBounds.USUAL.maxHold())));
        return bounds == null ? LeaseBounds.USUAL : bounds;
    }

    /** @param perInstanceOf the upstream of whose instances each has the permits of the pool; null for a pool of its own size */
    record Pool(
            Section section,
            PoolSettings settings,
            boolean enforced,
            @Nullable String perInstanceOf) {}

    /**
     * @param pools those without a mistake
     * @param names the pools that routes may name, including pools with mistakes; null when they cannot be determined
     */
    record Pools(Map<String, Pool> pools, @Nullable Set<String> names) {}
}
