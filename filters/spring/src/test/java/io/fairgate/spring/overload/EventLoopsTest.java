package io.fairgate.spring.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When event loops count as overloaded, and what new connections find then. */
class EventLoopsTest {

    private static final Duration MAX_LAG = Duration.ofMillis(50);
    private static final Duration LATE = Duration.ofMillis(80);
    private static final Duration SOME = Duration.ofMillis(40);
    private static final Duration PAUSE = Duration.ofSeconds(3);

    private final VirtualLoopTime time = new VirtualLoopTime();
    private final List<EventLoop> some =
            Stream.<EventLoop>generate(DefaultEventLoop::new).limit(4).toList();
    private final EventLoops loops = new EventLoops(MAX_LAG, time);

    @BeforeEach
    void watch() {
        some.forEach(loops::watch);
    }

    @AfterEach
    void stop() {
        loops.destroy();
        for (EventLoop loop : some) {
            var unused = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }

    private void measure(int times, Duration lag) {
        for (int i = 0; i < times; i++) {
            time.measure(lag);
        }
    }

    private int opened(int connections) {
        int opened = 0;
        for (int i = 0; i < connections; i++) {
            opened += loops.opens() ? 1 : 0;
        }
        return opened;
    }

    @Test
    void one_pause_is_no_overload() {
        time.measure(PAUSE);
        time.measure(Duration.ZERO);
        time.measure(PAUSE);
        assertThat(loops.areOverloaded()).isFalse();
        assertThat(opened(10)).isEqualTo(10);
    }

    @Test
    void loops_that_stay_late_are_overloaded() {
        measure(2, LATE);
        assertThat(loops.areOverloaded()).isTrue();
    }

    @Test
    void a_lag_below_the_bound_is_no_overload() {
        measure(20, SOME);
        assertThat(loops.areOverloaded()).isFalse();
    }

    @Test
    void few_new_connections_are_served_during_an_overload() {
        measure(2, LATE);
        assertThat(opened(10)).isEqualTo(1);
        measure(1, Duration.ZERO);
        // A connection for each 20 ms.
        assertThat(opened(10)).isEqualTo(1);
    }

    @Test
    void one_loop_that_hangs_closes_the_gateway_to_nobody() {
        for (int i = 0; i < 10; i++) {
            time.measure(some.get(0), LATE);
        }
        assertThat(loops.areOverloaded()).isTrue();
        assertThat(opened(10)).isEqualTo(10);
    }

    @Test
    void the_highest_lag_is_kept_for_the_next_scrapes() {
        time.measure(LATE);
        measure(20, Duration.ZERO);
        assertThat(loops.highestLagSeconds()).isEqualTo(0.08);
        for (int i = 0; i < 61 * 50; i++) {
            time.measure(Duration.ZERO);
        }
        assertThat(loops.highestLagSeconds()).isZero();
    }

    @Test
    void a_loop_that_hangs_is_late_before_it_is_measured() {
        for (int i = 0; i < 100; i++) {
            time.measure(some.get(0), Duration.ZERO);
        }
        assertThat(loops.highestLagSeconds()).isGreaterThan(1.9);
    }

    @Test
    void without_a_bound_nothing_is_an_overload() {
        EventLoops unbounded = new EventLoops(Duration.ZERO, time);
        unbounded.watch(some.get(0));
        measure(20, PAUSE);
        assertThat(unbounded.areOverloaded()).isFalse();
        assertThat(unbounded.opens()).isTrue();
        assertThat(unbounded.highestLagSeconds()).isEqualTo(3);
    }
}
