package io.fairgate.load.kit;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.fairgate.load.Parameters;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A plan as its file has it: what is missing is null. The constructors of its parts refuse what no plan may have, so that the error has a
 * line. Its own has no check, which would go before an error about an unknown key.
 */
record WrittenPlan(
        @Nullable String gateway,
        @Nullable String management,
        @Nullable Model model,
        @Nullable Integer load,
        @Nullable List<WrittenStage> stages,
        @Nullable WrittenStep step,
        @Nullable Duration timeout,
        @Nullable Duration pause,
        @Nullable Duration pauseAfterRefusal,
        @Nullable Double failed,
        @Nullable Double tolerance,
        @Nullable LinkedHashMap<String, @Nullable WrittenTenant> tenants) {

    private static final int MOST_LOAD = 20_000;
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    /** One more than this is a mistake: Gatling counts response times in milliseconds, and a counter is kept for each. */
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(5);

    private void check() {
        require(tenants != null && !tenants.isEmpty(), "tenants: nothing (expected: at least one tenant)");
        require((stages == null) != (step == null), "stages, step: both or none (expected: one of them)");
        require(stages == null || !stages.isEmpty(), "stages: nothing (expected: at least one stage)");
        require(
                stages == null || (load != null && load > 0 && load <= MOST_LOAD),
                "load: " + load + " (expected: a whole number from 1 to " + MOST_LOAD
                        + ", as the stages are parts of it)");
        require(step == null || load == null, "load: " + load + " (expected: nothing, as step has the connections)");
        require(step == null || model != Model.OPEN, "model: open (expected: closed, or nothing, for a step test)");
        require(
                step == null || pause == null,
                "pause: not in a step test (expected: nothing, as it would need more connections)");
        require(
                timeout == null || (!timeout.isZero() && timeout.compareTo(LONGEST_TIMEOUT) <= 0),
                "timeout: 0s, or longer than 5m (expected: at most 5m)");
        require(failed == null || (failed >= 0 && failed <= 100), "failed: " + failed + " (expected: a percentage)");
        require(
                tolerance == null || (tolerance > 0 && tolerance <= 100),
                "tolerance: " + tolerance + " (expected: a percentage above 0)");
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    static <T> T or(@Nullable T value, T fallback) {
        return value == null ? fallback : value;
    }

    /** @param level null for all of the load */
    record WrittenStage(
            @Nullable WrittenLevel level,
            @JsonProperty("for") @Nullable Duration length,
            @Nullable Boolean measured) {

        WrittenStage {
            require(
                    length != null && length.compareTo(SHORTEST) >= 0,
                    "for: nothing (expected: a time of at least 1s, such as 30s)");
        }

        Stage stage() {
            WrittenLevel in = or(level, new WrittenLevel(100, 100));
            return new Stage(1, 1, or(length, Duration.ZERO), or(measured, true)).at(in);
        }
    }

    /** @param settle how long each step runs before it is measured */
    record WrittenStep(
            @Nullable List<Integer> connections,
            @JsonProperty("for") @Nullable Duration length,
            @Nullable Duration settle) {

        WrittenStep {
            require(
                    connections != null && connections.size() >= 3 && isGrowing(connections),
                    "connections: " + connections + " (expected: at least three numbers from 1 to 5000 that grow)");
            require(
                    length == null || length.compareTo(SHORTEST) >= 0,
                    "for: too short (expected: a time of at least 1s, such as 10s)");
        }

        private static boolean isGrowing(List<Integer> numbers) {
            int last = 0;
            for (Integer number : numbers) {
                if (number == null || number <= last || number > 5_000) {
                    return false;
                }
                last = number;
            }
            return true;
        }

        private static final Duration WARM_UP = Duration.ofSeconds(5);

        List<Integer> numbers() {
            return or(connections, List.of());
        }

        /** Up and down again, so that a machine that becomes faster or slower meanwhile favours no step. */
        List<Stage> stages() {
            List<Integer> upAndDown = new ArrayList<>(numbers());
            List<Integer> down = new ArrayList<>(numbers());
            Collections.reverse(down);
            upAndDown.addAll(down);
            List<Stage> all = new ArrayList<>();
            double most = numbers().get(numbers().size() - 1);
            double middle = numbers().get(numbers().size() / 2) / most;
            all.add(new Stage(middle, middle, WARM_UP, false));
            for (int connections : upAndDown) {
                double level = connections / most;
                Duration before = or(settle, Duration.ofSeconds(2));
                if (!before.isZero()) {
                    all.add(new Stage(level, level, before, false));
                }
                all.add(new Stage(level, level, or(length, Duration.ofSeconds(10)), true));
            }
            return all;
        }
    }

    LoadPlan plan(String name, Parameters given, UnaryOperator<@Nullable String> environment) {
        check();
        require(
                step == null || !given.isGiven("load"),
                "-Dload: given (expected: nothing, as step has the connections)");
        List<Stage> all = step == null
                ? or(stages, List.<WrittenStage>of()).stream()
                        .map(WrittenStage::stage)
                        .toList()
                : step.stages();
        Schedule schedule = new Schedule(all);
        require(schedule.length().compareTo(LONGEST) <= 0, "stages: longer than a day (expected: at most 24h)");
        require(all.stream().anyMatch(Stage::measured), "stages: none is measured (expected: one at least)");
        List<Integer> steps = step == null ? List.of() : step.numbers();
        List<TenantPlan> tenantPlans = tenants(environment);
        LoadPlan plan = new LoadPlan(
                name,
                given.target("gateway", or(gateway, "http://localhost:8080")),
                managementOf(given),
                or(model, Model.CLOSED),
                step == null ? given.whole("load", or(load, 1), MOST_LOAD) : steps.get(steps.size() - 1),
                schedule,
                steps,
                or(timeout, Duration.ofSeconds(30)),
                or(pause, Duration.ZERO),
                or(pauseAfterRefusal, Duration.ofMillis(100)),
                or(failed, 0.0),
                or(tolerance, 10.0),
                tenantPlans,
                tenantPlans.stream()
                        .map(tenant -> LoadPlan.scheduleOf(tenant, schedule))
                        .toList());
        double highest = IntStream.range(0, all.size())
                .mapToDouble(stage -> plan.all(stage).highest())
                .max()
                .orElse(0);
        require(
                highest <= MOST_LOAD,
                "load: %.0f with the highest level (expected: at most %d)".formatted(highest, MOST_LOAD));
        double shares = tenantPlans.stream()
                .mapToDouble(tenant -> or(tenant.expected().share(), 0.0))
                .sum();
        require(
                shares <= 100.01,
                "tenants: expected shares of %.1f %% together (expected: at most 100)".formatted(shares));
        return plan;
    }

    private @Nullable URI managementOf(Parameters given) {
        String written = given.isGiven("management") ? given.required("management", "a URL") : management;
        return written == null || written.equals("none") ? null : given.target("management", written);
    }

    private List<TenantPlan> tenants(UnaryOperator<@Nullable String> environment) {
        List<TenantPlan> all = new ArrayList<>();
        for (Map.Entry<String, @Nullable WrittenTenant> entry : or(
                        tenants, new LinkedHashMap<String, @Nullable WrittenTenant>())
                .entrySet()) {
            WrittenTenant tenant = entry.getValue();
            require(
                    NAME.matcher(entry.getKey()).matches() && !entry.getKey().equals("all"),
                    "tenants." + entry.getKey()
                            + ": the name (expected: letters, digits, dots, lines, and not \"all\")");
            require(tenant != null, "tenants." + entry.getKey() + ": nothing (expected: what the tenant sends)");
            if (tenant != null) {
                int levels = or(tenant.levels(), List.<WrittenLevel>of()).size();
                int stages = or(this.stages, List.<WrittenStage>of()).size();
                require(
                        levels == 0 || levels == stages,
                        "tenants." + entry.getKey() + ".levels: " + levels + " (expected: one for each of the " + stages
                                + " stages)");
                all.add(tenant.tenant(entry.getKey(), environment));
            }
        }
        return all;
    }
}
