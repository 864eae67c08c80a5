package io.fairgate.proofs;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.CTestStructure;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.execution.RandomExecutionGenerator;
import org.jetbrains.lincheck.datastructures.CTestConfiguration;
import org.jetbrains.lincheck.datastructures.RandomProvider;

/** Parallel operations of several threads. Each scenario ends with the outcome, when all threads have ended. */
final class Scenarios {

    private static final String THEN = " then ";

    private final Class<? extends PoolUnderModelCheck> pool;

    Scenarios(Class<? extends PoolUnderModelCheck> pool) {
        this.pool = pool;
    }

    /**
     * A scenario in words, as {@code acquire 0, acquire 2 then release 0 | cancel 2}: first what one thread does before the
     * race, and then what each of the racing threads does. The first part may be missing.
     */
    ExecutionScenario of(String words) {
        int then = words.indexOf(THEN);
        String threads = then < 0 ? words : words.substring(then + THEN.length());
        return new ExecutionScenario(
                actors(then < 0 ? "" : words.substring(0, then)),
                Stream.of(threads.split(" \\| ")).map(this::actors).toList(),
                List.of(actor(pool, "outcome")),
                null);
    }

    private List<Actor> actors(String operations) {
        return Stream.of(operations.split(", "))
                .filter(operation -> !operation.isEmpty())
                .map(operation -> actor(pool, operation.split(" ")))
                .toList();
    }

    private static Actor actor(Class<?> pool, String... words) {
        Method method = Arrays.stream(pool.getMethods())
                .filter(candidate -> candidate.getName().equals(words[0]))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(words[0] + " (expected: an operation of a pool)"));
        return new Actor(
                method, Stream.of(words).skip(1).<Object>map(Integer::valueOf).toList());
    }

    /** Draws random scenarios. */
    public static final class Drawn extends RandomExecutionGenerator {

        private final Actor outcome;

        public Drawn(CTestConfiguration configuration, CTestStructure structure, RandomProvider random) {
            super(configuration, structure, random);
            outcome = actor(configuration.getTestClass(), "outcome");
        }

        @Override
        public ExecutionScenario nextExecution() {
            ExecutionScenario drawn = super.nextExecution();
            return new ExecutionScenario(
                    drawn.getInitExecution(), drawn.getParallelExecution(), List.of(outcome), null);
        }
    }
}
