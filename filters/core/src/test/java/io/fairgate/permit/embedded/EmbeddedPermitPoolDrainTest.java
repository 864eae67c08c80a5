package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The two loops of the embedded pool: events that arrive while a loop runs, and the thread that continues long work.
 */
class EmbeddedPermitPoolDrainTest {

    /** Requests that may be submitted to a busy drain in addition to those that may wait. */
    private static final int MOST_ON_THEIR_WAY = 10_000;

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    private EmbeddedPermitPool pool(PoolSettings settings) {
        return pool(settings, nothingLeft.watch(time));
    }

    private EmbeddedPermitPool pool(PoolSettings settings, Scheduler scheduler) {
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, TenantShares.EQUAL, scheduler, PoolListener.NONE));
    }

    /** Runs a task during a drain, which is when the calculator is called for the second time. */
    private static TenantShares whileDraining(Runnable what) {
        AtomicInteger asked = new AtomicInteger();
        ShareCalculator calculator = (permits, active) -> {
            if (asked.incrementAndGet() == 2) {
                what.run();
            }
            return permits;
        };
        return TenantShares.EQUAL.withCalculator(calculator);
    }

    private static List<Throwable> droppedBy(Runnable what) {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            what.run();
        } finally {
            Hooks.resetOnErrorDropped();
        }
        return dropped;
    }

    /** Virtual time that rejects all tasks. */
    private record Unwilling(TestTime time, RuntimeException error) implements Scheduler {
        @Override
        public Disposable schedule(Runnable task) {
            throw error;
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            throw error;
        }

        @Override
        public long now(TimeUnit unit) {
            return time.now(unit);
        }

        @Override
        public Worker createWorker() {
            throw error;
        }
    }

    /** Only collects its tasks. */
    private static final class LaterScheduler implements Scheduler {
        final Queue<Runnable> later = new ArrayDeque<>();

        @Override
        public Disposable schedule(Runnable task) {
            later.add(task);
            return Disposables.disposed();
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return delay == 0 ? schedule(task) : Disposables.single();
        }

        @Override
        public long now(TimeUnit unit) {
            return 0;
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException("a worker: a pool schedules single tasks");
        }
    }

    // ---- events during a drain ----

    @Test
    void a_request_beyond_the_bound_of_a_busy_drain_is_refused_at_once() {
        int waiting = 5;
        PoolSettings settings = PoolSettings.ofPermits(1).withMaxWaiting(waiting);
        EmbeddedPermitPool pool = pool(settings);
        for (int round = 0; round < 2; round++) {
            HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
            List<Throwable> refused = new ArrayList<>();
            List<Integer> refusedAtOnce = new ArrayList<>();
            pool.reconfigure(settings, whileDraining(() -> {
                        for (int i = 0; i < MOST_ON_THEIR_WAY + waiting + 2; i++) {
                            pool.withPermit(PermitRequest.of("a").withEventLoop(Runnable::run), Mono.empty())
                                    .subscribe(v -> {}, refused::add);
                        }
                        refusedAtOnce.add(refused.size());
                    }))
                    .subscribe();
            time.runDue();

            assertThat(refusedAtOnce).containsExactly(2);
            assertThat(refused)
                    .hasSize(MOST_ON_THEIR_WAY + 2)
                    .allSatisfy(e -> assertThat(e)
                            .isInstanceOfSatisfying(
                                    PermitRefusedException.class,
                                    refusal -> assertThat(refusal.reason()).isEqualTo(RefusalReason.POOL_QUEUE_FULL)));
            assertThat(NothingLeft.statusOf(pool).waiting()).isEqualTo(waiting);
            held.release();
            time.runDue();
        }
    }

    @Test
    void try_acquire_during_a_drain_gets_nothing_and_takes_nothing_later() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        List<Boolean> taken = new ArrayList<>();
        pool.reconfigure(
                        PoolSettings.ofPermits(1),
                        whileDraining(() -> taken.add(pool.tryAcquire(PermitRequest.of("a")) != null)))
                .subscribe();
        assertThat(taken).containsExactly(false);
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void a_status_requested_during_a_drain_contains_earlier_events() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        Disposable next = pool.withPermit(PermitRequest.of("b").withEventLoop(Runnable::run), Mono.never())
                .subscribe();
        List<PoolStatus> told = new ArrayList<>();
        pool.reconfigure(PoolSettings.ofPermits(1), whileDraining(() -> {
                    held.release();
                    pool.snapshot().subscribe(told::add);
                }))
                .subscribe();
        assertThat(told).singleElement().satisfies(status -> {
            assertThat(status.waiting()).as("while a permit is free").isZero();
            assertThat(status.inFlight()).isOne();
        });
        next.dispose();
    }

    @Test
    void an_error_of_a_calculator_is_reported_and_the_pool_continues() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        List<Throwable> errors = new ArrayList<>();
        pool.reconfigure(PoolSettings.ofPermits(1), whileDraining(() -> {
                    throw new IllegalStateException("boom");
                }))
                .subscribe(v -> {}, errors::add);
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).hasMessage("boom"));
        AtomicInteger ran = new AtomicInteger();
        pool.withPermit(PermitRequest.of("a").withEventLoop(Runnable::run), Mono.fromRunnable(ran::incrementAndGet))
                .subscribe();
        assertThat(ran).hasValue(1);
    }

    @Test
    void an_error_of_the_timers_is_reported_and_the_pool_continues() {
        EmbeddedPermitPool pool = pool(
                PoolSettings.ofPermits(1), new Unwilling(nothingLeft.watch(time), new IllegalStateException("boom")));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        AtomicInteger ran = new AtomicInteger();
        List<Throwable> dropped = droppedBy(() -> pool.withPermit(
                        PermitRequest.of("b").withEventLoop(Runnable::run), Mono.fromRunnable(ran::incrementAndGet))
                .subscribe());
        assertThat(dropped).singleElement().satisfies(e -> assertThat(e).hasMessage("boom"));
        held.release();
        assertThat(ran).hasValue(1);
    }

    // ---- threads ----

    @Test
    void a_release_of_many_permits_does_not_start_all_requests_on_its_thread() {
        LaterScheduler scheduler = new LaterScheduler();
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1_000), scheduler);
        HeldPermits all =
                Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a").withPermits(1_000)));
        AtomicInteger started = new AtomicInteger();
        Sinks.Empty<Void> end = Sinks.empty();
        Mono<Void> work = end.asMono().doOnSubscribe(s -> started.incrementAndGet());
        for (int i = 0; i < 1_000; i++) {
            pool.withPermit(PermitRequest.of("b").withEventLoop(Runnable::run), work)
                    .subscribe();
        }
        all.release();
        assertThat(started).as("started by the releasing thread").hasValueBetween(1, 300);
        while (!scheduler.later.isEmpty()) {
            int before = started.get();
            scheduler.later.remove().run();
            assertThat(started.get() - before).as("started in one go").isLessThan(300);
        }
        assertThat(started).hasValue(1_000);
        end.tryEmitEmpty();
        while (!scheduler.later.isEmpty()) {
            scheduler.later.remove().run();
        }
    }

    @Test
    void requests_that_a_continued_drain_refuses_get_their_refusal() {
        PoolSettings settings = PoolSettings.ofPermits(1).withMaxWaiting(5);
        LaterScheduler scheduler = new LaterScheduler();
        EmbeddedPermitPool pool = pool(settings, scheduler);
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        List<Throwable> refused = new ArrayList<>();
        pool.reconfigure(settings, whileDraining(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        pool.withPermit(PermitRequest.of("a").withEventLoop(Runnable::run), Mono.empty())
                                .subscribe(v -> {}, refused::add);
                    }
                }))
                .subscribe();
        assertThat(refused).as("refused by the thread that changed the pool").hasSizeLessThan(300);
        while (!scheduler.later.isEmpty()) {
            scheduler.later.remove().run();
        }
        assertThat(refused).hasSize(995);
        held.release();
    }

    @Test
    void a_drain_that_cannot_continue_on_another_thread_continues_itself() {
        int requests = 1_000;
        PoolSettings settings = PoolSettings.ofPermits(1).withMaxWaiting(requests);
        EmbeddedPermitPool pool =
                pool(settings, new Unwilling(nothingLeft.watch(time), new RejectedExecutionException("shut down")));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        AtomicInteger done = new AtomicInteger();
        pool.reconfigure(settings, whileDraining(() -> {
                    for (int i = 0; i < requests; i++) {
                        pool.withPermit(PermitRequest.of("a").withEventLoop(Runnable::run), Mono.empty())
                                .subscribe(v -> {}, e -> {}, done::incrementAndGet);
                    }
                }))
                .subscribe();
        assertThat(NothingLeft.statusOf(pool).waiting()).isEqualTo(requests);
        held.release();
        assertThat(done).hasValue(requests);
    }

    @Test
    void without_timers_a_cancelled_work_holds_its_permit_until_it_has_quiesced() {
        EmbeddedPermitPool pool = pool(
                PoolSettings.ofPermits(1),
                new Unwilling(nothingLeft.watch(time), new RejectedExecutionException("shut down")));
        Sinks.Empty<Void> quiesced = Sinks.empty();
        pool.withPermit(
                        PermitRequest.of("a").withEventLoop(Runnable::run).withQuiesced(quiesced.asMono()),
                        Mono.never())
                .subscribe()
                .dispose();
        time.advanceBy(Duration.ofHours(1));
        assertThat(NothingLeft.statusOf(pool).inFlight()).isOne();
        quiesced.tryEmitEmpty().orThrow();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }
}
