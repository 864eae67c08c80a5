package io.fairgate.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs random sequences of operations against a subject that checks itself after each operation, and shrinks a failing
 * sequence.
 *
 * <p>Each scenario has its own seed. When a scenario fails, smaller and smaller groups of operations are left out while the rest
 * still fails; then the error message shows the seed and the remaining operations. {@code -Dfairgate.seed=SEED} runs only one
 * scenario. Shrinking requires that every sequence is applicable: let an operation name its object by an index modulo the number
 * of objects, and do nothing if there is none. {@code -Dfairgate.scenarios=PERCENT} sets the part of the scenarios that runs, by default
 * 15 percent.
 *
 * @param <O> an operation; the error message shows its {@code toString}
 */
public final class SeededModel<O> {

    /** The start of a run, and the operations that may happen in it. */
    public interface Scenario<O> {
        /** The next operation of a random sequence. */
        O operation(Random random);

        /** A fresh start; called again for each attempt to shrink. */
        Trial<O> start();
    }

    /** One run of a scenario. */
    public interface Trial<O> {
        /** Executes the operation and checks the result; throws when it is wrong. */
        void apply(O operation);

        /** Checks the state after the last operation. */
        default void end() {}
    }

    /** A failing sequence, and its error. */
    private record Failure<O>(List<O> operations, Throwable cause) {}

    private static final long FIRST_SEED = 20_240_601;

    /** Shrinking gives up after this many runs. */
    private static final int MOST_ATTEMPTS = 3_000;

    /** The rest is for longer runs: a build has to end in time. */
    private static final int USUAL_PERCENT = 15;

    private static final int PERCENT = Integer.getInteger("fairgate.scenarios", USUAL_PERCENT);

    private final int scenarios;
    private final int length;
    private int attempts;

    /**
     * @param scenarios how many scenarios to run
     * @param length operations in each
     */
    public SeededModel(int scenarios, int length) {
        this.scenarios = partOf(scenarios);
        this.length = length;
    }

    /** The same part of a number, at least 1, as the part of the scenarios that is run. */
    public static int partOf(int all) {
        return Math.max(1, (int) ((long) all * PERCENT / 100));
    }

    /** Whether at least the usual part of the scenarios is run. Otherwise a test can assert only what holds in each scenario. */
    public static boolean runsMany() {
        return PERCENT >= USUAL_PERCENT;
    }

    /**
     * Runs all scenarios.
     *
     * @param scenario draws a random scenario
     * @throws AssertionError with the seed, the scenario and the shrunk operations of the first scenario that fails
     */
    public void check(Function<Random, ? extends Scenario<O>> scenario) {
        Long only = Long.getLong("fairgate.seed");
        if (only != null) {
            checkOne(only, scenario);
            return;
        }
        for (int i = 0; i < scenarios; i++) {
            checkOne(FIRST_SEED + i, scenario);
        }
    }

    private void checkOne(long seed, Function<Random, ? extends Scenario<O>> draw) {
        Random random = new Random(seed);
        Scenario<O> scenario = draw.apply(random);
        List<O> operations = new ArrayList<>(length);
        for (int i = 0; i < length; i++) {
            operations.add(scenario.operation(random));
        }
        Failure<O> failure = run(scenario, operations);
        if (failure != null) {
            Failure<O> least = shrink(scenario, failure);
            throw new AssertionError(message(seed, scenario, least), least.cause());
        }
    }

    /** Runs the operations; returns the failure, with the operations up to the one that failed, or null. */
    private static <O> @Nullable Failure<O> run(Scenario<O> scenario, List<O> operations) {
        Trial<O> trial = scenario.start();
        int done = 0;
        try {
            for (O operation : operations) {
                done++;
                trial.apply(operation);
            }
            trial.end();
            return null;
        } catch (RuntimeException | AssertionError e) {
            return new Failure<>(List.copyOf(operations.subList(0, done)), e);
        }
    }

    private Failure<O> shrink(Scenario<O> scenario, Failure<O> found) {
        Failure<O> least = found;
        attempts = 0;
        for (int run = Math.max(1, least.operations().size() / 2); run >= 1; run = run == 1 ? 0 : run / 2) {
            boolean shrunk = true;
            while (shrunk && attempts < MOST_ATTEMPTS) {
                Failure<O> smaller = dropOneRun(scenario, least, run);
                shrunk = smaller.operations().size() < least.operations().size();
                least = smaller;
            }
        }
        return least;
    }

    /** Drops every run of {@code run} operations that the failure does not need. */
    private Failure<O> dropOneRun(Scenario<O> scenario, Failure<O> failure, int run) {
        Failure<O> least = failure;
        for (int end = least.operations().size(); end > 0 && attempts < MOST_ATTEMPTS; end -= run) {
            int from = Math.max(0, end - run);
            List<O> rest = new ArrayList<>(least.operations());
            rest.subList(from, Math.min(end, rest.size())).clear();
            attempts++;
            Failure<O> smaller = run(scenario, rest);
            if (smaller != null) {
                least = smaller;
                end = Math.min(end, least.operations().size() + run);
            }
        }
        return least;
    }

    private static <O> String message(long seed, Scenario<O> scenario, Failure<O> failure) {
        return "seed %d (run it alone with -Dfairgate.seed=%d)%nscenario: %s%n%d operations:%n%s%n%s"
                .formatted(
                        seed,
                        seed,
                        scenario,
                        failure.operations().size(),
                        failure.operations().stream().map(o -> "  " + o).collect(Collectors.joining("\n")),
                        failure.cause());
    }
}
