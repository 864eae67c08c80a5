package io.fairgate.config.policy;

import io.fairgate.config.policy.PoolsReader.Pool;
import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.yaml.Value;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a {@code FairShare} filter names a pool and a class of the file, and asks for no more permits than the
 * pool has.
 */
final class FairShareReference {
    static final String FILTER = "FairShare";

    private static final String EXPECTED = "the name of a pool, such as FairShare=orders";
    private static final List<String> IN_ORDER = List.of("pool", "permits", "maxHold");

    private final Step filter;
    private final Pools pools;
    private final @Nullable Set<String> classes;

    private FairShareReference(Step filter, Pools pools, @Nullable Set<String> classes) {
        this.filter = filter;
        this.pools = pools;
        this.classes = classes;
    }

    static void check(Step filter, Pools pools, @Nullable Set<String> classes) {
        FairShareReference reference = new FairShareReference(filter, pools, classes);
        if (filter.arguments() != null) {
            reference.shortForm(filter.arguments());
        } else {
            reference.longForm();
        }
    }

    private void shortForm(String text) {
        // Split as in Spring Cloud Gateway: at commas, without surrounding space and without empty arguments.
        List<String> given = Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(argument -> !argument.isEmpty())
                .toList();
        Value value = filter.value();
        if (given.isEmpty()) {
            value.mistake(EXPECTED);
            return;
        }
        if (given.size() > IN_ORDER.size()) {
            value.mistake("FairShare=" + String.join(",", IN_ORDER));
            return;
        }
        if (Names.isKnown(given.get(0), pools.names(), value, "a pool")) {
            checkPermits(value, given.size() > 1 ? given.get(1) : null, given.get(0));
            checkMaxHold(value, given.size() > 2 ? given.get(2) : null);
        }
    }

    private void longForm() {
        Value args = filter.args();
        if (args != null && !args.isMapping()) {
            return; // noted already
        }
        Map<String, Value> byName = filter.argumentsByName();
        Value requestClass = byName.get("class");
        String className = requestClass == null ? null : requestClass.text("the name of a class");
        if (requestClass != null && className != null) {
            Names.isKnown(className, classes, requestClass, "a class");
        }
        Value onClientLeft = byName.get("onClientLeft");
        if (onClientLeft != null) {
            var unused = PoolsReader.onClientLeft(onClientLeft);
        }
        Value pool = byName.get("pool");
        if (pool == null) {
            filter.value().mistake("no args.pool", "the name of a pool, such as args: { pool: orders }");
            return;
        }
        String name = pool.text("the name of a pool");
        if (name != null && Names.isKnown(name, pools.names(), pool, "a pool")) {
            Value permits = byName.get("permits");
            Value maxHold = byName.get("maxHold");
            checkPermits(permits, permits == null ? null : String.valueOf(permits.scalar()), name);
            checkMaxHold(maxHold, maxHold == null ? null : String.valueOf(maxHold.scalar()));
        }
    }

    private void checkPermits(@Nullable Value value, @Nullable String permits, String pool) {
        if (value == null || permits == null) {
            return;
        }
        Pool known = pools.pools().get(pool);
        int most = known == null ? Integer.MAX_VALUE : known.settings().permits();
        boolean fits = Value.WHOLE.matcher(permits).matches()
                && Long.parseLong(permits) >= 1
                && Long.parseLong(permits) <= most;
        if (!fits) {
            value.mistake(
                    known == null
                            ? "permits: a whole number of at least 1"
                            : "permits: 1 to %d, the size of pool %s".formatted(most, pool));
        }
    }

    private static void checkMaxHold(@Nullable Value value, @Nullable String maxHold) {
        Duration duration = maxHold == null ? null : DurationText.parse(maxHold);
        if (value != null && maxHold != null && (duration == null || duration.isNegative() || duration.isZero())) {
            value.mistake("maxHold: " + DurationText.EXPECTED);
        }
    }
}
