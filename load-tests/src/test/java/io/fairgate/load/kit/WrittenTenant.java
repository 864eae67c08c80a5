package io.fairgate.load.kit;

import static io.fairgate.load.kit.WrittenPlan.or;
import static io.fairgate.load.kit.WrittenPlan.require;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A tenant of a plan, as its file has it. */
record WrittenTenant(
        @Nullable Map<String, String> headers,
        @Nullable String method,
        @Nullable List<String> path,
        @Nullable String body,
        @Nullable Double load,
        @Nullable List<WrittenLevel> levels,
        @Nullable WrittenExpected expect) {

    private static final Pattern PATH = Pattern.compile("/[^#\\s]*");
    private static final Pattern METHOD = Pattern.compile("[A-Z]{1,20}");
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e\\xa0-\\xff]*");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

    WrittenTenant {
        require(path != null && !path.isEmpty(), "path: nothing (expected: one, such as /orders, or a list)");
        for (String one : or(path, List.<String>of())) {
            require(
                    one != null && PATH.matcher(one).matches(),
                    "path: " + one + " (expected: a path, such as /orders)");
        }
        require(method == null || METHOD.matcher(method).matches(), "method: " + method + " (expected: such as GET)");
        require(
                load == null || (load > 0 && load <= 1_000_000),
                "load: " + load + " (expected: a number above 0, at most a million)");
        for (String name : or(headers, Map.<String, String>of()).keySet()) {
            require(TOKEN.matcher(name).matches(), "headers: " + name + " (expected: the name of a header)");
        }
    }

    /** What a tenant may expect, as the file has it. */
    record WrittenExpected(
            @Nullable Double share,
            @Nullable String refused,
            @Nullable Set<Integer> status,
            @Nullable Duration p50,
            @Nullable Duration p95,
            @Nullable Duration p99,
            @Nullable Duration max) {

        WrittenExpected {
            require(
                    share == null || (share > 0 && share <= 100),
                    "share: " + share + " (expected: a percentage above 0)");
            require(
                    or(status, Set.<Integer>of()).stream().allMatch(WrittenExpected::isStatus),
                    "status: " + status + " (expected: numbers from 100 to 599)");
            require(
                    refused == null || refused.equals("any") || refused.matches("\\d{1,2}(\\.\\d+)?|100"),
                    "refused: " + refused + " (expected: the highest percentage that may be refused, or any)");
        }

        private static boolean isStatus(int number) {
            return number >= 100 && number < 600;
        }

        Expected expected() {
            Map<Integer, Duration> slowest = new HashMap<>();
            put(slowest, 50, p50);
            put(slowest, 95, p95);
            put(slowest, 99, p99);
            put(slowest, 100, max);
            double most = refused == null ? 0 : refused.equals("any") ? 100 : Double.parseDouble(refused);
            return new Expected(share, most, or(status, Set.<Integer>of()), slowest);
        }

        private static void put(Map<Integer, Duration> all, int percent, @Nullable Duration bound) {
            if (bound != null) {
                all.put(percent, bound);
            }
        }
    }

    TenantPlan tenant(String name, UnaryOperator<@Nullable String> environment) {
        Map<String, String> resolved = new LinkedHashMap<>();
        or(headers, Map.<String, String>of())
                .forEach((header, value) ->
                        resolved.put(header, resolve("tenants." + name + ".headers." + header, value, environment)));
        return new TenantPlan(
                name,
                resolved,
                or(method, body == null ? "GET" : "POST"),
                or(path, List.<String>of()),
                body,
                or(load, 1.0),
                or(levels, List.<WrittenLevel>of()),
                expect == null ? new Expected(null, 0, Set.of(), Map.of()) : expect.expected());
    }

    private static String resolve(String key, String value, UnaryOperator<@Nullable String> environment) {
        String resolved = VARIABLE.matcher(value).replaceAll(found -> {
            String text = environment.apply(found.group(1));
            require(
                    text != null,
                    key + ": the environment has no " + found.group(1) + " (expected: a variable that is set)");
            return Matcher.quoteReplacement(text == null ? "" : text);
        });
        require(!VARIABLE.matcher(value).replaceAll("").contains("${"), key + ": " + value + " (expected: ${NAME})");
        require(VALUE.matcher(resolved).matches(), key + ": (expected: letters of Latin-1, and no line breaks)");
        return resolved;
    }
}
