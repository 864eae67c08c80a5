package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairgate.fairness.ShareCalculator;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.EmbeddedPermitPool;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
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
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** The contract, and what only the embedded pool has: its drain, and the changes that go through it. */
class EmbeddedPermitPoolTest extends PermitPoolContract {

    /** Claims that may be on their way to the drain beside those that may wait. */
    private static final int MOST_ON_THEIR_WAY = 10_000;

    @Override
    protected PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        return new EmbeddedPermitPool("test", settings, shares, time, listener);
    }

    private EmbeddedPermitPool pool(PoolSettings settings) {
        nothingLeft.watch(time);
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, TenantShares.EQUAL, time, new PoolListener() {}));
    }

    /** Runs something while the pool drains: there the calculator is asked for the second time. */
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

    @Test
    void shares_that_the_permits_cannot_keep_are_refused() {
        PoolSettings two = PoolSettings.ofPermits(2);
        TenantShares tooMuch =
                TenantShares.EQUAL.withMember(TenantId.of("a"), ShareSettings.EQUAL.withGuaranteed(3, 3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> newPool(two, tooMuch, time, PoolListener.NONE))
                .withMessageContaining("at least 3");
        EmbeddedPermitPool pool = pool(two);
        assertThat(pool.name()).isEqualTo("test");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.reconfigure(two, tooMuch))
                .withMessageContaining("at least 3");
    }

    @Test
    void who_asks_while_too_many_are_on_their_way_to_a_busy_pool_is_refused_at_once() {
        int waiting = 5;
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1).withMaxWaiting(waiting));
        for (int round = 0; round < 2; round++) {
            HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
            List<Throwable> refused = new ArrayList<>();
            List<Integer> refusedAtOnce = new ArrayList<>();
            pool.reconfigure(PoolSettings.ofPermits(1).withMaxWaiting(waiting), whileDraining(() -> {
                for (int i = 0; i < MOST_ON_THEIR_WAY + waiting + 2; i++) {
                    pool.withPermit(PermitRequest.of("a").withHome(Runnable::run), Mono.empty())
                            .subscribe(v -> {}, refused::add);
                }
                refusedAtOnce.add(refused.size());
            }));
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
    void an_error_of_a_calculator_while_the_pool_drains_is_told_of_and_the_pool_goes_on() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            pool.reconfigure(PoolSettings.ofPermits(1), whileDraining(() -> {
                throw new IllegalStateException("boom");
            }));
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertThat(dropped).singleElement().satisfies(e -> assertThat(e).hasMessage("boom"));
        AtomicInteger ran = new AtomicInteger();
        pool.withPermit(PermitRequest.of("a").withHome(Runnable::run), Mono.fromRunnable(ran::incrementAndGet))
                .subscribe();
        assertThat(ran).hasValue(1);
    }

    @Test
    void a_hold_that_is_over_before_its_work_has_started_is_ended_once_when_it_has() {
        EmbeddedPermitPool pool = pool(
                PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(1)).withMaxHold(Duration.ofSeconds(10)));
        HeldPermits first = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        Queue<Runnable> home = new ArrayDeque<>();
        List<Throwable> errors = new ArrayList<>();
        AtomicInteger started = new AtomicInteger();
        Mono<Void> work = Mono.<Void>never().doOnSubscribe(s -> started.incrementAndGet());
        pool.withPermit(PermitRequest.of("b").withHome(home::add), work).subscribe(v -> {}, errors::add);
        first.release();
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(home).as("its turn, and its end").hasSize(2);

        home.remove().run();
        assertThat(started).hasValue(1);
        home.remove().run();
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).isInstanceOf(HoldExpiredException.class));
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void a_pool_that_has_closed_has_no_timer_left_however_often_and_patiently_it_was_closed() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        Sinks.Empty<Void> end = Sinks.empty();
        pool.withPermit(PermitRequest.of("a"), end.asMono()).subscribe();
        pool.close(Duration.ofMinutes(1)).subscribe();
        pool.close(Duration.ofMinutes(2)).subscribe();
        end.tryEmitEmpty().orThrow();
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void the_status_tells_since_when_an_open_permit_has_been_held() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(2));
        time.advanceBy(Duration.ofSeconds(5));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(NothingLeft.statusOf(pool).tenants())
                .singleElement()
                .satisfies(tenant -> assertThat(tenant.held()).isEqualTo(Duration.ofSeconds(10)));
        held.release();
    }

    @Test
    void open_permits_with_different_ends_come_back_each_at_its_own() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(3));
        HeldPermits handle = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        List<Duration> ends = new ArrayList<>();
        for (int seconds : new int[] {10, 20}) {
            pool.withPermit(PermitRequest.of("a").withMaxHold(Duration.ofSeconds(seconds)), Mono.never())
                    .subscribe(v -> {}, e -> ends.add(Duration.ofSeconds(seconds)));
        }
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(ends).containsExactly(Duration.ofSeconds(10));
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(ends).containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(20));
        handle.release();
    }

    @Test
    void what_was_taken_without_waiting_is_heard_of_when_it_comes_back() {
        List<Duration> holds = new ArrayList<>();
        PermitPool pool = nothingLeft.watch(
                newPool(PoolSettings.ofPermits(1), TenantShares.EQUAL, nothingLeft.watch(time), new PoolListener() {
                    @Override
                    public void released(TenantId tenant, int permits, long heldNanos) {
                        holds.add(Duration.ofNanos(heldNanos));
                    }
                }));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        time.advanceBy(Duration.ofSeconds(3));
        held.release();
        held.release();
        assertThat(holds).containsExactly(Duration.ofSeconds(3));
    }

    @Test
    void without_a_listener_a_wait_is_as_long_as_with_one_at_home_or_not() {
        PermitPool pool = nothingLeft.watch(newPool(
                PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)),
                TenantShares.EQUAL,
                nothingLeft.watch(time),
                PoolListener.NONE));
        time.advanceBy(Duration.ofMinutes(1));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        List<Throwable> refused = new ArrayList<>();
        pool.withPermit(PermitRequest.of("b"), Mono.empty()).subscribe(v -> {}, refused::add);
        pool.withPermit(PermitRequest.of("b").withHome(Runnable::run), Mono.empty())
                .subscribe(v -> {}, refused::add);
        time.advanceBy(Duration.ofMillis(1_999));
        assertThat(refused).isEmpty();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(refused).hasSize(2);
        held.release();
    }

    @Test
    void the_listener_hears_how_long_those_waited_that_were_refused_or_left() {
        List<Duration> waits = new ArrayList<>();
        PermitPool pool = nothingLeft.watch(newPool(
                PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)),
                TenantShares.EQUAL,
                nothingLeft.watch(time),
                new PoolListener() {
                    @Override
                    public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
                        waits.add(Duration.ofNanos(waitedNanos));
                    }

                    @Override
                    public void abandoned(TenantId tenant, long waitedNanos) {
                        waits.add(Duration.ofNanos(waitedNanos));
                    }
                }));
        time.advanceBy(Duration.ofMinutes(1));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        Disposable leaves = pool.withPermit(PermitRequest.of("b"), Mono.empty()).subscribe();
        pool.withPermit(PermitRequest.of("b"), Mono.empty()).subscribe(v -> {}, e -> {});
        time.advanceBy(Duration.ofSeconds(1));
        leaves.dispose();
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(waits).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2));
        held.release();
    }

    /** Virtual time whose threads take no work any more; its timers still ring. */
    private record WithoutThreads(Scheduler time) implements Scheduler {
        @Override
        public Disposable schedule(Runnable task) {
            throw new RejectedExecutionException("shut down");
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return time.schedule(task, delay, unit);
        }

        @Override
        public long now(TimeUnit unit) {
            return time.now(unit);
        }

        @Override
        public Worker createWorker() {
            return time.createWorker();
        }
    }

    @Test
    void a_pool_that_can_hand_its_work_over_to_no_thread_does_all_of_it_itself() {
        int requests = 1_000;
        PoolSettings settings = PoolSettings.ofPermits(1).withMaxWaiting(requests);
        EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
                "test", settings, TenantShares.EQUAL, new WithoutThreads(nothingLeft.watch(time)), PoolListener.NONE));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        AtomicInteger done = new AtomicInteger();
        pool.reconfigure(settings, whileDraining(() -> {
            for (int i = 0; i < requests; i++) {
                pool.withPermit(PermitRequest.of("a").withHome(Runnable::run), Mono.empty())
                        .subscribe(v -> {}, e -> {}, done::incrementAndGet);
            }
        }));
        assertThat(NothingLeft.statusOf(pool).waiting()).isEqualTo(requests);
        held.release();
        assertThat(done).hasValue(requests);
    }
}
