package io.fairgate.config;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks that a {@code FairShare} filter names a pool of the file. */
final class FairShareReference {
    static final String FILTER = "FairShare";

    private static final String EXPECTED = "the name of a pool, such as FairShare=orders";

    private FairShareReference() {}

    static void check(Step filter, @Nullable Set<String> pools) {
        String arguments = filter.arguments();
        if (arguments != null) {
            // As Spring Cloud Gateway splits it: at commas, with the space around them and empty arguments left out.
            String pool = Arrays.stream(arguments.split(","))
                    .map(String::strip)
                    .filter(argument -> !argument.isEmpty())
                    .findFirst()
                    .orElse("");
            check(pool, filter.value(), pools);
            return;
        }
        Value args = filter.args();
        Map<String, Value> given = args == null || !args.isMapping() ? Map.of() : args.entries("");
        Value pool = given == null ? null : given.get("pool");
        if (pool == null) {
            if (args == null || args.isMapping()) {
                filter.value().mistake("no args.pool", "the name of a pool, such as args: { pool: orders }");
            }
            return;
        }
        String name = pool.text("the name of a pool");
        if (name != null) {
            check(name, pool, pools);
        }
    }

    private static void check(String pool, Value value, @Nullable Set<String> pools) {
        if (pool.isEmpty()) {
            value.mistake(EXPECTED);
        } else {
            Names.isKnown(pool, pools, value, "a pool");
        }
    }
}
