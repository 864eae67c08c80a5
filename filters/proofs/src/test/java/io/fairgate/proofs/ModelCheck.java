package io.fairgate.proofs;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.proofs.PoolUnderModelCheck.Closing;
import io.fairgate.proofs.PoolUnderModelCheck.NearlyCalmAtAnyTime;
import io.fairgate.proofs.PoolUnderModelCheck.NearlyCalmOne;
import io.fairgate.proofs.PoolUnderModelCheck.NearlyCalmTwo;
import io.fairgate.proofs.PoolUnderModelCheck.OpenAtAnyTime;
import io.fairgate.proofs.PoolUnderModelCheck.OpenOne;
import io.fairgate.proofs.PoolUnderModelCheck.OpenTwo;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * The pool under a model checker. For each scenario it tries {@link #ORDERS} orders in which the steps of the threads can
 * interleave, those with few switches between threads first. The outcome must be that of some order of whole operations
 * ({@link SequentialPool}), or, where time matters, with no permit lost and no request forgotten.
 *
 * <p>Only the operations that a scenario names run before the parallel ones. Otherwise Lincheck would add random ones, which
 * may take all permits; then there would be no race.
 */
public enum ModelCheck {
    ONE_OPEN_PERMIT(
            OpenOne.class,
            SequentialPool.OfOne.class,
            "acquire 0 | acquire 2",
            "acquire 1 | acquire 3",
            "acquire 0 | cancel 0",
            "acquire 0 then release 0 | acquire 2",
            "acquire 1 then release 1 | acquire 2",
            "acquire 1 then release 1 | cancel 1, acquire 2",
            "acquire 0 then pass | release 0 | acquire 2",
            "acquire 0, acquire 2, acquire 3 then release 0 | cancel 2",
            "acquire 0, acquire 2 then cancel 0 | acquire 1",
            "acquire 0 then grow | acquire 2"),

    TWO_OPEN_PERMITS(
            OpenTwo.class,
            SequentialPool.OfTwo.class,
            "acquire 0 then acquire 1 | acquire 2",
            "acquire 0 then acquire 1 | acquire 2 | release 0",
            "acquire 0, acquire 1, acquire 2 then release 0 | release 1 | cancel 2",
            "acquire 0, acquire 1, acquire 2, acquire 3 then release 0 | release 1"),

    ONE_PERMIT_ABOUT_TO_LIE_OPEN(
            NearlyCalmOne.class,
            SequentialPool.OfOne.class,
            "acquire 0 then release 0 | acquire 2",
            "acquire 0 then release 0, pass | acquire 1",
            "pass then acquire 1 | acquire 2",
            "pass then acquire 0, release 0 | acquire 2",
            "acquire 0 then cancel 0 | grow | acquire 1"),

    TWO_PERMITS_ABOUT_TO_LIE_OPEN(
            NearlyCalmTwo.class,
            SequentialPool.OfTwo.class,
            "pass then acquire 0 | acquire 1 | acquire 2",
            "acquire 0, acquire 1 then release 0, acquire 2 | release 1, acquire 3"),

    TIME_IS_UP(
            OpenAtAnyTime.class,
            SequentialPool.Silent.class,
            "shrink, acquire 0, acquire 2 then release 0 | timeOut 2",
            "shrink, acquire 0, acquire 2 then cancel 2 | timeOut 2",
            "shrink, acquire 0, acquire 2 then expire | release 0",
            "shrink, acquire 0, acquire 2 then fail 0 | cancel 0",
            "shrink, acquire 0, acquire 2 then expire | cancel 0",
            "shrink, acquire 0 then release 0 | acquire 2, timeOut 2",
            "acquire 0 then expire | acquire 2",
            "acquire 0 then shrink | acquire 2",
            "acquire 0, acquire 1 then shrink | release 0 | acquire 2"),

    TIME_IS_UP_AS_PERMITS_OPEN(
            NearlyCalmAtAnyTime.class,
            SequentialPool.Silent.class,
            "acquire 0, acquire 1 then release 0 | acquire 2, timeOut 2",
            "acquire 0 then expire | shrink | acquire 2"),

    CLOSING(
            Closing.class,
            SequentialPool.OfOne.class,
            "close | acquire 0",
            "close, acquire 0 | resize",
            "close | acquire 1",
            "acquire 0 then close | release 0",
            "acquire 0 then close | cancel 0",
            "acquire 0, acquire 2 then close | release 0",
            "acquire 0 then close | release 0 | acquire 2");

    /** Orders for each scenario. */
    private static final int ORDERS = Integer.getInteger("fairgate.orders", 8);
    /** Random scenarios for each pool. */
    private static final int DRAWN = Integer.getInteger("fairgate.drawn", 1);

    private final Class<? extends PoolUnderModelCheck> pool;
    private final Class<?> specification;

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    private final List<String> scenarios;

    ModelCheck(Class<? extends PoolUnderModelCheck> pool, Class<?> specification, String... scenarios) {
        this.pool = pool;
        this.specification = specification;
        this.scenarios = List.of(scenarios);
    }

    /** {@code "ONE_OPEN_PERMIT: acquire 0 | acquire 2"} and so on. */
    public List<String> proofs() {
        return scenarios.stream().map(scenario -> name() + ": " + scenario).toList();
    }

    /** Checks all scenarios of the pool, and some random ones, in one call, because each call transforms all classes again. */
    void checkAll() {
        Scenarios on = new Scenarios(pool);
        ModelCheckingOptions options = options();
        for (String scenario : scenarios) {
            options = options.addCustomScenario(on.of(scenario));
        }
        options.executionGenerator(Scenarios.Drawn.class).iterations(DRAWN).check(pool);
    }

    /** Checks one scenario: one of {@link #proofs} of one of the pools. */
    public static void check(String proof) {
        ModelCheck check = Arrays.stream(values())
                .filter(candidate -> candidate.proofs().contains(proof))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException(proof + " (expected: a pool and one of its scenarios)"));
        String scenario = proof.substring(proof.indexOf(':') + 2);
        check.options()
                .addCustomScenario(new Scenarios(check.pool).of(scenario))
                .iterations(0)
                .check(check.pool);
    }

    private ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .sequentialSpecification(specification)
                .actorsBefore(0)
                .actorsAfter(0)
                .threads(2)
                .actorsPerThread(3)
                .invocationsPerIteration(ORDERS)
                // The scenarios are small already.
                .minimizeFailedScenario(false)
                // Used by one thread at a time. Only "grant" asks the requests, which other threads change meanwhile.
                .addGuarantee(forClasses(FairScheduler.class.getName())
                        .methods(method -> !method.equals("grant"))
                        .treatAsAtomic())
                // The test's own observers.
                .addGuarantee(forClasses(Guard.class.getName(), Heard.class.getName())
                        .allMethods()
                        .treatAsAtomic())
                // Called by one thread alone, before and after the race.
                .addGuarantee(forClasses(PoolOfRequests.class.getName())
                        .methods(
                                "outcome",
                                "outcomeWhenLate",
                                "open",
                                "heard",
                                "timed",
                                "nearlyCalm",
                                "nearlyCalmAndTimed")
                        .ignore());
    }

    /** Otherwise a class would be loaded in the middle of a scenario. */
    public static void loadClasses() {
        PoolOfRequests pool = PoolOfRequests.nearlyCalmAndTimed(1);
        for (int i = 0; i < PoolOfRequests.REQUESTS; i++) {
            pool.acquire(i);
        }
        pool.expire();
        pool.timeOut(1);
        var unused = pool.outcome();
    }
}
