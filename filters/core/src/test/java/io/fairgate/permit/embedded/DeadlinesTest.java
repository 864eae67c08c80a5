package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

class DeadlinesTest {

    /** Records the delays of the timers, and fires none. */
    private static final class Timers implements Scheduler {
        final List<Long> delays = new ArrayList<>();
        final List<Disposable> timers = new ArrayList<>();
        boolean isShutDown;

        @Override
        public Disposable schedule(Runnable task) {
            throw new UnsupportedOperationException("a task without a delay: deadlines only set timers");
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            if (isShutDown) {
                throw new RejectedExecutionException();
            }
            delays.add(unit.toNanos(delay));
            timers.add(Disposables.single());
            return timers.get(timers.size() - 1);
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException("a worker: deadlines only set timers");
        }
    }

    private final Timers timers = new Timers();
    private final Deadlines deadlines = new Deadlines(timers, () -> {});

    @Test
    void the_earliest_deadline_comes_first_after_any_additions_changes_and_removals() {
        Random random = new Random(1);
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            waiters.add(Waiters.create());
        }
        Map<Waiter, Long> expected = new HashMap<>();
        int due = 0;
        for (int i = 0; i < 100_000; i++) {
            // In waves: sometimes mostly additions, sometimes mostly removals.
            boolean comes = random.nextInt(1_000) < (i / 5_000 % 2 == 0 ? 600 : 300);
            Waiter waiter = waiters.get(random.nextInt(waiters.size()));
            if (comes) {
                long time = random.nextInt(50) == 0 ? Deadlines.NEVER : random.nextInt(1_000);
                deadlines.set(waiter, time);
                expected.put(waiter, time);
                expected.values().remove(Deadlines.NEVER);
            } else {
                deadlines.remove(waiter);
                expected.remove(waiter);
            }
            long first =
                    expected.values().stream().mapToLong(time -> time).min().orElse(Deadlines.NEVER);
            long now = random.nextInt(200);
            assertThat(deadlines.first()).isEqualTo(first);
            Waiter found = deadlines.due(now);
            assertThat(found != null).isEqualTo(first <= now);
            if (found != null) {
                due++;
                assertThat(expected).containsEntry(found, first);
            }
        }
        assertThat(due).isGreaterThan(10_000);
    }

    @Test
    void deadlines_stay_in_order_when_most_others_are_removed() {
        Random random = new Random(2);
        for (int round = 0; round < 500; round++) {
            Map<Waiter, Long> expected = new LinkedHashMap<>();
            for (int i = 20 + random.nextInt(50); i > 0; i--) {
                Waiter waiter = Waiters.create();
                expected.put(waiter, (long) random.nextInt(100));
                deadlines.set(waiter, expected.getOrDefault(waiter, 0L));
            }
            List<Waiter> leave = new ArrayList<>(expected.keySet());
            Collections.shuffle(leave, random);
            for (Waiter waiter : leave.subList(0, leave.size() * 3 / 4)) {
                deadlines.remove(waiter);
                expected.remove(waiter);
            }
            List<Long> times = new ArrayList<>();
            for (Waiter due = deadlines.due(100); due != null; due = deadlines.due(100)) {
                times.add(deadlines.first());
                assertThat(expected.remove(due)).isEqualTo(deadlines.first());
                deadlines.remove(due);
            }
            assertThat(times).isSorted();
            assertThat(expected).isEmpty();
        }
    }

    @Test
    void the_memory_of_removed_deadlines_is_released() {
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < 1024; i++) {
            waiters.add(Waiters.create());
            deadlines.set(waiters.get(i), i);
        }
        assertThat(deadlines.room()).isEqualTo(1024);

        // From the last to the first, so that no empty place gets to the top.
        for (int i = 1023; i > 500; i--) {
            deadlines.remove(waiters.get(i));
        }
        assertThat(deadlines.room()).as("room for as many again").isEqualTo(1024);
        for (int i = 500; i > 0; i--) {
            deadlines.remove(waiters.get(i));
        }
        assertThat(deadlines.room()).isLessThanOrEqualTo(64);
        assertThat(deadlines.due(0)).isSameAs(waiters.get(0));
    }

    @Test
    void the_memory_of_expired_deadlines_is_released() {
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < 1024; i++) {
            waiters.add(Waiters.create());
            deadlines.set(waiters.get(i), i);
        }
        for (int i = 0; i < 1000; i++) {
            deadlines.remove(waiters.get(i));
            assertThat(deadlines.first()).isEqualTo(i + 1);
        }
        assertThat(deadlines.room()).isEqualTo(1024);
        for (int i = 1023; i > 1000; i--) {
            deadlines.remove(waiters.get(i));
        }
        assertThat(deadlines.room()).isEqualTo(512);
        assertThat(deadlines.due(1000)).isSameAs(waiters.get(1000));
    }

    @Test
    void the_timer_is_set_again_only_for_an_earlier_deadline() {
        Waiter first = Waiters.create();
        deadlines.set(first, 100);
        deadlines.setTimer(Deadlines.NEVER, 10);
        deadlines.set(Waiters.create(), 200);
        deadlines.setTimer(150, 20);
        deadlines.remove(first);
        deadlines.setTimer(Deadlines.NEVER, 30);
        assertThat(timers.delays).containsExactly(90L);
        assertThat(deadlines.ringsAt()).isEqualTo(100);

        deadlines.setTimer(50, 40);
        assertThat(timers.delays).containsExactly(90L, 10L);
        assertThat(timers.timers.get(0).isDisposed()).isTrue();

        deadlines.rang();
        assertThat(deadlines.ringsAt()).isEqualTo(Deadlines.NEVER);
        deadlines.setTimer(Deadlines.NEVER, 300);
        assertThat(timers.delays).as("delay of a deadline that is due already").endsWith(0L);

        deadlines.stopTimer();
        assertThat(timers.timers)
                .last()
                .satisfies(timer -> assertThat(timer.isDisposed()).isTrue());
    }

    @Test
    void without_timers_the_deadlines_still_work() {
        timers.isShutDown = true;
        deadlines.set(Waiters.create(), 100);
        deadlines.setTimer(Deadlines.NEVER, 10);
        assertThat(deadlines.ringsAt()).as("no timer will fire").isEqualTo(Deadlines.NEVER);
        assertThat(deadlines.due(100)).isNotNull();
    }
}
