package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** How often nodes disturb each other between heartbeats. */
class HintsTest {

    private static final int NODES = 4;
    private static final Duration MILLI = Duration.ofMillis(1);

    private final TestTime time = new TestTime();
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Runnable> onFree = new ArrayList<>();
    private final List<Runnable> onCall = new ArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final Hints hints = new Hints(
            new LedgerWithoutLeases() {
                @Override
                public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
                    throw new AssertionError("no heartbeats here");
                }

                @Override
                public Disposable onFreePermits(Runnable listener) {
                    onFree.add(listener);
                    return () -> onFree.remove(listener);
                }

                @Override
                public Mono<Void> callNodes() {
                    return Mono.fromRunnable(calls::incrementAndGet);
                }

                @Override
                public Disposable onCall(Runnable listener) {
                    onCall.add(listener);
                    return () -> onCall.remove(listener);
                }
            },
            tasks::add,
            () -> time.now(TimeUnit.NANOSECONDS));

    private void runTasks() {
        List<Runnable> now = List.copyOf(tasks);
        tasks.clear();
        now.forEach(Runnable::run);
    }

    @Test
    void a_node_whose_lack_begins_again_and_again_calls_five_times_a_second_with_four_nodes() {
        for (int i = 0; i < 1_000; i++) {
            time.advanceBy(MILLI);
            hints.lacks(i % 2, NODES);
        }
        assertThat(calls).hasValueBetween(4, 5);
    }

    @Test
    void what_a_node_lacks_for_a_second_is_one_call() {
        for (int i = 0; i < 1_000; i++) {
            time.advanceBy(MILLI);
            hints.lacks(i < 300 ? 0 : 2, NODES);
        }
        assertThat(calls).hasValue(1);
    }

    @Test
    void less_than_a_permit_is_no_lack() {
        time.advanceBy(Duration.ofSeconds(1));
        hints.lacks(0.99, NODES);
        assertThat(calls).hasValue(0);
        hints.lacks(1 - 1e-12, NODES);
        assertThat(calls).hasValue(1);
    }

    @Test
    void a_lack_that_begins_right_after_a_call_is_called_later() {
        time.advanceBy(Duration.ofSeconds(1));
        hints.lacks(1, NODES);
        hints.lacks(0, NODES);
        for (int i = 0; i < 1_000; i++) {
            time.advanceBy(MILLI);
            hints.lacks(1, NODES);
        }
        assertThat(calls).hasValue(2);
    }

    @Test
    void a_lack_that_grows_to_twice_as_much_is_called_again_and_one_that_varies_is_not() {
        time.advanceBy(Duration.ofSeconds(1));
        hints.lacks(1, NODES);
        for (int i = 0; i < 1_000; i++) {
            time.advanceBy(MILLI);
            hints.lacks(8 + i % 5, NODES);
        }
        assertThat(calls).hasValue(2);
        time.advanceBy(Duration.ofSeconds(1));
        hints.lacks(3, NODES);
        hints.lacks(6, NODES);
        assertThat(calls).hasValue(3);
    }

    @Test
    void of_four_nodes_one_looks_every_twenty_milliseconds_at_most() {
        int looks = 0;
        for (int i = 0; i < 1_000; i++) {
            time.advanceBy(MILLI);
            hints.look(NODES);
            hints.beat();
            looks += hints.isLooking() ? 1 : 0;
        }
        assertThat(looks).isBetween(45, 50);
    }

    @Test
    void a_look_is_that_of_the_next_heartbeat_also_when_another_hint_comes_before_it() {
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(hints.look(NODES)).isTrue();
        assertThat(hints.look(NODES)).isTrue();
        hints.beat();
        assertThat(hints.isLooking()).isTrue();
        hints.beat();
        assertThat(hints.isLooking()).isFalse();
    }

    @Test
    void hints_that_come_before_the_worker_has_executed_one_are_one_until_the_end() {
        AtomicInteger free = new AtomicInteger();
        AtomicInteger called = new AtomicInteger();
        hints.listen(free::incrementAndGet, called::incrementAndGet);
        for (int i = 0; i < 3; i++) {
            onFree.forEach(Runnable::run);
            onCall.forEach(Runnable::run);
        }
        runTasks();
        assertThat(free).hasValue(1);
        assertThat(called).hasValue(1);
        onFree.forEach(Runnable::run);
        runTasks();
        assertThat(free).hasValue(2);
        hints.end();
        assertThat(onFree).isEmpty();
        assertThat(onCall).isEmpty();
    }
}
