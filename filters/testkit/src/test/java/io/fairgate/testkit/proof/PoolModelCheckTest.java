package io.fairgate.testkit.proof;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.testkit.proof.PoolUnderModelCheck.NearlyCalmAtAnyTime;
import io.fairgate.testkit.proof.PoolUnderModelCheck.NearlyCalmOne;
import io.fairgate.testkit.proof.PoolUnderModelCheck.NearlyCalmTwo;
import io.fairgate.testkit.proof.PoolUnderModelCheck.OpenAtAnyTime;
import io.fairgate.testkit.proof.PoolUnderModelCheck.OpenOne;
import io.fairgate.testkit.proof.PoolUnderModelCheck.OpenTwo;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;

/**
 * The pool under a model checker: for each scenario, orders in which the steps of its threads can interleave, first all
 * with one switch between threads, then with two, and so on as far as {@link #ORDERS} reaches. Each must end as some order
 * of the whole operations would ({@link SequentialPool}), or, where time comes in, with nothing lost and nobody forgotten.
 *
 * <p>There are no operations before the parallel ones but those that a scenario names. Lincheck would else draw some, which
 * may take all permits, and then nothing is raced for and everything is proven.
 */
@Tag("model-check")
class PoolModelCheckTest {

    /** Orders that are tried for each scenario. */
    private static final int ORDERS = Integer.getInteger("fairgate.proof.orders", 100);
    /** Random scenarios for each pool. */
    private static final int DRAWN = Integer.getInteger("fairgate.proof.drawn", 0);

    /** Whoever loads a class first would do so in the middle of a scenario. */
    @BeforeAll
    static void loadClasses() {
        PoolOfRequests pool = PoolOfRequests.nearlyCalm(1, 1);
        for (int i = 0; i < PoolOfRequests.REQUESTS; i++) {
            pool.acquire(i);
        }
        pool.timeOut(1);
        pool.expire(0);
        pool.outcome();
    }

    @AfterAll
    static void dropErrorsAsBefore() {
        Hooks.resetOnErrorDropped();
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .actorsBefore(0)
                .actorsAfter(0)
                .threads(2)
                .actorsPerThread(3)
                .iterations(DRAWN)
                .executionGenerator(Scenarios.Drawn.class)
                .invocationsPerIteration(ORDERS)
                // What one thread at a time does; but "grant" asks the claims, which others change meanwhile.
                .addGuarantee(forClasses(FairScheduler.class.getName())
                        .methods(method -> !method.equals("grant"))
                        .treatAsAtomic())
                // The one who watches.
                .addGuarantee(forClasses(Guard.class.getName()).allMethods().treatAsAtomic())
                // What one thread does alone, before and after.
                .addGuarantee(forClasses(PoolOfRequests.class.getName())
                        .methods("outcome", "open", "nearlyCalm")
                        .ignore());
    }

    private static void check(
            Class<?> specification, Class<? extends PoolUnderModelCheck> pool, ExecutionScenario... scenarios) {
        ModelCheckingOptions options = options().sequentialSpecification(specification);
        for (ExecutionScenario scenario : scenarios) {
            options = options.addCustomScenario(scenario);
        }
        options.check(pool);
    }

    @Test
    void one_permit_that_lies_open_ends_up_where_some_order_puts_it() {
        Scenarios on = new Scenarios(OpenOne.class);
        check(
                SequentialPool.OfOne.class,
                OpenOne.class,
                on.of("", "acquire 0", "acquire 2"),
                on.of("", "acquire 1", "acquire 3"),
                on.of("", "acquire 0", "cancel 0"),
                on.of("acquire 0", "release 0", "acquire 2"),
                on.of("acquire 1", "release 1", "acquire 2"),
                on.of("acquire 1", "release 1", "cancel 1, acquire 2"),
                on.of("acquire 0", "pass", "release 0", "acquire 2"),
                on.of("acquire 0, acquire 2, acquire 3", "release 0", "cancel 2"),
                on.of("acquire 0, acquire 2", "cancel 0", "acquire 1"),
                on.of("acquire 0", "grow", "acquire 2"));
    }

    @Test
    void two_permits_that_lie_open_end_up_where_some_order_puts_them() {
        Scenarios on = new Scenarios(OpenTwo.class);
        check(
                SequentialPool.OfTwo.class,
                OpenTwo.class,
                on.of("acquire 0", "acquire 1", "acquire 2"),
                on.of("acquire 0", "acquire 1", "acquire 2", "release 0"),
                on.of("acquire 0, acquire 1, acquire 2", "release 0", "release 1", "cancel 2"));
    }

    @Test
    void one_permit_that_is_about_to_lie_open_ends_up_where_some_order_puts_it() {
        Scenarios on = new Scenarios(NearlyCalmOne.class);
        check(
                SequentialPool.OfOne.class,
                NearlyCalmOne.class,
                on.of("acquire 0", "release 0", "acquire 2"),
                on.of("acquire 0", "release 0, pass", "acquire 1"),
                on.of("pass", "acquire 1", "acquire 2"),
                on.of("pass", "acquire 0, release 0", "acquire 2"),
                on.of("acquire 0", "cancel 0", "grow", "acquire 1"));
    }

    @Test
    void two_permits_that_are_about_to_lie_open_end_up_where_some_order_puts_them() {
        Scenarios on = new Scenarios(NearlyCalmTwo.class);
        check(
                SequentialPool.OfTwo.class,
                NearlyCalmTwo.class,
                on.of("pass", "acquire 0", "acquire 1", "acquire 2"),
                on.of("acquire 0, acquire 1", "release 0, acquire 2", "release 1, acquire 3"));
    }

    @Test
    void no_permit_is_lost_and_nobody_is_forgotten_when_time_is_up() {
        Scenarios on = new Scenarios(OpenAtAnyTime.class);
        check(
                SequentialPool.Silent.class,
                OpenAtAnyTime.class,
                on.of("shrink, acquire 0, acquire 2", "release 0", "timeOut 2"),
                on.of("shrink, acquire 0, acquire 2", "cancel 2", "timeOut 2"),
                on.of("shrink, acquire 0, acquire 2", "expire 0", "release 0"),
                on.of("shrink, acquire 0, acquire 2", "fail 0", "cancel 0"),
                on.of("shrink, acquire 0, acquire 2", "expire 0", "cancel 0"),
                on.of("shrink, acquire 0", "release 0", "acquire 2, timeOut 2"),
                on.of("acquire 0", "shrink", "acquire 2"),
                on.of("acquire 0, acquire 1", "shrink", "release 0", "acquire 2"));
    }

    @Test
    void no_permit_is_lost_and_nobody_is_forgotten_when_time_is_up_and_permits_are_about_to_lie_open() {
        Scenarios on = new Scenarios(NearlyCalmAtAnyTime.class);
        check(
                SequentialPool.Silent.class,
                NearlyCalmAtAnyTime.class,
                on.of("acquire 0, acquire 1", "release 0", "acquire 2, timeOut 2"),
                on.of("acquire 0", "expire 0", "shrink", "acquire 2"));
    }

    @Test
    void a_pool_that_closes_refuses_who_comes_later_and_is_closed_when_all_are_done() {
        Scenarios on = new Scenarios(PoolUnderModelCheck.Closing.class);
        check(
                SequentialPool.OfOne.class,
                PoolUnderModelCheck.Closing.class,
                on.of("", "close", "acquire 0"),
                on.of("", "close, acquire 0", "resize"),
                on.of("", "close", "acquire 1"),
                on.of("acquire 0", "close", "release 0"),
                on.of("acquire 0", "close", "cancel 0"),
                on.of("acquire 0, acquire 2", "close", "release 0"));
    }
}
