package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How late event loops are, in virtual time. */
class EventLoopLagTest {

    private final MockTicker time = Ticker.newMockTicker();
    private final EventLoopLag lag = new EventLoopLag(time);
    private final EmbeddedChannel one = EmbeddedChannel.builder().ticker(time).build();
    private final EmbeddedChannel other = EmbeddedChannel.builder().ticker(time).build();

    @BeforeEach
    void watch() {
        lag.watch(one.eventLoop());
        lag.watch(other.eventLoop());
    }

    @AfterEach
    void close() {
        one.finish();
        other.finish();
    }

    /** These loops run what is due, after a time in which they did nothing. */
    private void runAfter(long millis, EmbeddedChannel... loops) {
        time.advance(millis, TimeUnit.MILLISECONDS);
        List.of(loops).forEach(EmbeddedChannel::runScheduledPendingTasks);
    }

    private void runInTime(int seconds) {
        for (int i = 0; i < 50 * seconds; i++) {
            runAfter(20, one, other);
        }
    }

    @Test
    void a_loop_that_runs_its_timers_in_time_is_not_late() {
        runInTime(1);
        assertThat(lag.highestSeconds()).isZero();
    }

    @Test
    void the_lag_is_how_late_a_timer_runs() {
        runAfter(100, one, other);
        assertThat(lag.highestSeconds()).isEqualTo(0.08);
    }

    @Test
    void the_lag_of_the_latest_loop_counts() {
        runAfter(20, other);
        runAfter(80, one, other);
        assertThat(lag.highestSeconds()).isEqualTo(0.08);
    }

    @Test
    void the_highest_lag_is_kept_for_the_next_scrapes() {
        runAfter(100, one, other);
        runInTime(31);
        assertThat(lag.highestSeconds()).isEqualTo(0.08);
        runInTime(30);
        assertThat(lag.highestSeconds()).isZero();
    }

    @Test
    void a_loop_that_hangs_is_late_before_it_runs_its_timer() {
        runAfter(2020);
        assertThat(lag.highestSeconds()).isEqualTo(2);
    }

    @Test
    void more_connections_do_not_begin_the_measurement_again() {
        runAfter(20, other);
        runAfter(80, other);
        lag.watch(one.eventLoop());
        runAfter(0, one);
        assertThat(lag.highestSeconds()).isEqualTo(0.08);
    }

    @Test
    void nothing_is_measured_when_the_application_has_stopped() {
        lag.destroy();
        assertThat(one.runScheduledPendingTasks()).as("time of the next timer").isNegative();
    }
}
