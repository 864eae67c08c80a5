package io.fairgate.spring.overload;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tenants get from an overloaded event loop, in virtual time. */
class OverloadedLoopTest {

    private static final Duration MAX_LAG = Duration.ofMillis(50);
    private static final long LEAD_IN = 12 * SimulatedLoop.SECOND;
    private static final int COUNTED = 5;
    private static final double PEAK = SimulatedLoop.PEAK;

    private static double perSecond(long requests) {
        return (double) requests / COUNTED;
    }

    private static void run(SimulatedLoop loop, SimulatedClient... clients) {
        loop.runUntil(loop.now() + LEAD_IN);
        for (SimulatedClient client : clients) {
            client.count();
        }
        loop.runUntil(loop.now() + COUNTED * SimulatedLoop.SECOND);
    }

    @ParameterizedTest
    @ValueSource(doubles = {2, 10})
    void it_serves_nine_tenths_of_what_it_can_at_many_times_the_load(double times) {
        SimulatedLoop loop = new SimulatedLoop(MAX_LAG);
        SimulatedClient greedy = new SimulatedClient(loop, "greedy", 1, (times - 0.1) * PEAK);
        SimulatedClient modest = new SimulatedClient(loop, "modest", 1, 0.1 * PEAK);
        run(loop, greedy, modest);
        assertThat(perSecond(greedy.served() + modest.served())).isGreaterThan(0.9 * PEAK);
        assertThat(perSecond(modest.served())).isGreaterThan(0.095 * PEAK);
        assertThat(modest.refused()).isZero();
    }

    @Test
    void without_a_bound_it_works_for_clients_that_have_given_up() {
        SimulatedLoop loop = new SimulatedLoop(Duration.ZERO);
        SimulatedClient greedy = new SimulatedClient(loop, "greedy", 1, 9.9 * PEAK);
        SimulatedClient modest = new SimulatedClient(loop, "modest", 1, 0.1 * PEAK);
        run(loop, greedy, modest);
        assertThat(perSecond(greedy.served() + modest.served())).isLessThan(0.85 * PEAK);
        assertThat(greedy.refused() + modest.refused()).isZero();
    }

    @Test
    void it_refuses_nothing_while_it_can_serve_all() {
        SimulatedLoop loop = new SimulatedLoop(MAX_LAG);
        SimulatedClient one = new SimulatedClient(loop, "one", 1, 0.8 * PEAK);
        run(loop, one);
        assertThat(one.refused() + one.gaveUp()).isZero();
        assertThat(loop.load().isOverloaded()).isFalse();
    }

    @Test
    void it_serves_all_soon_after_the_overload() {
        SimulatedLoop loop = new SimulatedLoop(MAX_LAG);
        SimulatedClient greedy = new SimulatedClient(loop, "greedy", 1, 10 * PEAK);
        run(loop, greedy);
        assertThat(loop.load().isOverloaded()).isTrue();
        greedy.send(0.7 * PEAK);
        run(loop, greedy);
        assertThat(perSecond(greedy.served())).isGreaterThan(0.69 * PEAK);
        assertThat(greedy.refused()).isZero();
        assertThat(loop.load().isOverloaded()).isFalse();
    }

    @Test
    void a_loop_that_is_late_for_another_reason_does_not_refuse_all() {
        SimulatedLoop loop = new SimulatedLoop(MAX_LAG);
        SimulatedClient one = new SimulatedClient(loop, "one", 1, 0.2 * PEAK);
        hangAgainAndAgain(loop);
        run(loop, one);
        assertThat(loop.load().isOverloaded()).isTrue();
        assertThat(perSecond(one.served())).isGreaterThan(0.05 * PEAK);
    }

    /** A fault in a filter blocks the loop for most of the time. */
    private static void hangAgainAndAgain(SimulatedLoop loop) {
        loop.hang(Duration.ofMillis(80).toNanos());
        loop.at(loop.now() + Duration.ofMillis(100).toNanos(), () -> hangAgainAndAgain(loop));
    }
}
