package io.fairgate.spring.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In the time of a channel that has no network. */
class MovingDeadlineTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private int reached;
    private final MovingDeadline deadline = new MovingDeadline(channel.eventLoop(), () -> reached++);

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        var unused = channel.close();
    }

    private void pass(long nanos) {
        channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
    }

    private long untilNextTask() {
        return channel.runScheduledPendingTasks();
    }

    @Test
    void a_deadline_is_reached_once() {
        deadline.set(100);
        pass(99);
        assertThat(reached).isZero();
        pass(1);
        assertThat(reached).isEqualTo(1);
        pass(1000);
        assertThat(reached).isEqualTo(1);
        deadline.set(100);
        pass(100);
        assertThat(reached).isEqualTo(2);
    }

    @Test
    void a_deadline_that_was_moved_is_reached_at_its_new_time_only() {
        deadline.set(100);
        pass(60);
        deadline.set(100);
        pass(99);
        assertThat(reached).isZero();
        pass(1);
        assertThat(reached).isEqualTo(1);
    }

    @Test
    void to_move_a_deadline_sets_no_other_timer() {
        deadline.set(100);
        pass(60);
        deadline.set(100);
        assertThat(untilNextTask()).isEqualTo(40);
        deadline.clear();
        pass(40);
        assertThat(untilNextTask()).isNegative();
    }

    @Test
    void a_deadline_can_be_moved_to_an_earlier_time() {
        deadline.set(1000);
        deadline.set(10);
        pass(10);
        assertThat(reached).isEqualTo(1);
        pass(1000);
        assertThat(reached).isEqualTo(1);
    }

    @Test
    void a_deadline_that_was_cleared_is_not_reached_and_needs_no_timer() {
        deadline.set(100);
        deadline.clear();
        pass(100);
        assertThat(reached).isZero();
        assertThat(untilNextTask()).isNegative();
    }

    @Test
    void a_stopped_deadline_leaves_no_timer() {
        deadline.set(100);
        deadline.stop();
        assertThat(untilNextTask()).isNegative();
        pass(100);
        assertThat(reached).isZero();
    }
}
