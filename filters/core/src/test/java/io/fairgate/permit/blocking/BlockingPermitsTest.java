package io.fairgate.permit.blocking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Threads that wait for permits. They are virtual ones where the JVM has them. */
class BlockingPermitsTest {

    private static final Duration HOLD = Duration.ofSeconds(5);

    private final TestTime time = new TestTime();
    private final EmbeddedPermitPool pool = new EmbeddedPermitPool(
            "pool",
            PoolSettings.ofPermits(1).withMaxHold(HOLD).withMaxWait(Duration.ofSeconds(1)),
            TenantShares.EQUAL,
            time,
            PoolListener.NONE);
    private final BlockingPermits permits = new BlockingPermits(pool);
    private final ExecutorService threads = threads();
    private final PermitRequest one = PermitRequest.of("acme");

    private static ExecutorService threads() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            return Executors.newCachedThreadPool(); // JDK 17
        }
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        assertThat(inFlight()).isZero();
        assertThat(NothingLeft.statusOf(pool).waiting()).isZero();
        time.advanceBy(HOLD); // The one timer of a pool may still be pending.
        assertThat(time.timersLeft()).isZero();
    }

    private int inFlight() {
        return NothingLeft.statusOf(pool).inFlight();
    }

    private static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("time is left").isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }

    private void awaitWaiting(int count) {
        until(() -> NothingLeft.statusOf(pool).waiting() == count);
    }

    private static @Nullable Throwable failureOf(Future<?> future) throws Exception {
        try {
            future.get(20, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    @Test
    void a_thread_waits_for_its_permit_and_the_next_one_gets_it() throws Exception {
        HeldPermits first = permits.acquire(one);
        assertThat(first.tenant()).isEqualTo(one.tenant());
        assertThat(first.permits()).isOne();
        Future<HeldPermits> second = threads.submit(() -> permits.acquire(one));
        awaitWaiting(1);
        assertThat(second.isDone()).isFalse();

        first.close();
        first.close();
        assertThat(first.isHeld()).isFalse();
        try (HeldPermits held = second.get(20, TimeUnit.SECONDS)) {
            assertThat(held.isHeld()).isTrue();
            assertThat(inFlight()).isOne();
        }
    }

    @Test
    void a_refusal_is_thrown() throws Exception {
        try (HeldPermits held = permits.acquire(one)) {
            Future<HeldPermits> refused = threads.submit(() -> permits.acquire(one));
            awaitWaiting(1);
            time.advanceBy(Duration.ofSeconds(1));
            assertThat(failureOf(refused))
                    .isInstanceOfSatisfying(
                            PermitRefusedException.class,
                            why -> assertThat(why.reason()).isEqualTo(RefusalReason.MAX_WAIT));
            assertThat(held.isHeld()).isTrue();
        }
        assertThatThrownBy(() -> permits.acquire(one.withPermits(2)))
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        why -> assertThat(why.reason()).isEqualTo(RefusalReason.TOO_LARGE));
    }

    @Test
    void an_interrupted_thread_leaves_the_queue() throws Exception {
        try (HeldPermits held = permits.acquire(one)) {
            Future<HeldPermits> waiting = threads.submit(() -> permits.acquire(one));
            awaitWaiting(1);
            waiting.cancel(true);
            awaitWaiting(0);
            assertThat(held.isHeld()).isTrue();
        }
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> permits.acquire(one)).isInstanceOf(InterruptedException.class);
        assertThat(inFlight()).as("granted at once, to an interrupted thread").isZero();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> permits.call(one, () -> 1)).isInstanceOf(InterruptedException.class);
        assertThat(inFlight()).isZero();
    }

    @Test
    void permits_that_are_held_for_too_long_are_taken_back() throws Exception {
        HeldPermits held = permits.acquire(one);
        time.advanceBy(HOLD);
        assertThat(held.isHeld()).isFalse();
        assertThat(inFlight()).isZero();
        try (HeldPermits next = permits.acquire(one)) {
            held.release();
            assertThat(next.isHeld()).as("of another holder").isTrue();
            assertThat(inFlight()).isOne();
        }
    }

    @Test
    void work_has_its_result_or_its_error_and_its_permit_only_meanwhile() throws Exception {
        assertThat(permits.call(one, this::inFlight)).isOne();
        assertThat(inFlight()).isZero();
        Exception failure = new Exception("no row");
        assertThatThrownBy(() -> permits.call(one, () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(inFlight()).isZero();
        AssertionError error = new AssertionError("a bug");
        assertThatThrownBy(() -> permits.call(one, () -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(inFlight()).isZero();
    }

    @Test
    void work_that_takes_too_long_is_interrupted_and_its_permit_comes_back_when_it_has_ended() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<Boolean> flagged = new AtomicReference<>();
        IllegalStateException thrown = new IllegalStateException("cleaned up");
        Future<?> late = threads.submit(() -> {
            try {
                permits.call(one, () -> {
                    begun.countDown();
                    try {
                        Thread.sleep(60_000);
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                    }
                    end.await();
                    Thread.currentThread().interrupt();
                    throw thrown;
                });
            } finally {
                flagged.set(Thread.currentThread().isInterrupted());
            }
            return null;
        });
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        time.advanceBy(HOLD);
        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(inFlight()).as("it works on").isOne();
        end.countDown();
        assertThat(failureOf(late))
                .isInstanceOf(HoldExpiredException.class)
                .satisfies(expired -> assertThat(Objects.requireNonNull(expired).getSuppressed())
                        .containsExactly(thrown));
        assertThat(flagged.get()).as("the interrupt is over with the work").isFalse();
        assertThat(inFlight()).isZero();
    }

    @Test
    void work_that_ignores_its_interrupt_loses_its_permit_after_the_time_to_quiesce() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Future<Integer> late = threads.submit(() -> permits.call(one, () -> {
            begun.countDown();
            return awaitIgnoringInterrupts(end);
        }));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        time.advanceBy(HOLD);
        assertThat(inFlight()).isOne();
        time.advanceBy(PermitRequest.QUIESCE_WITHIN);
        assertThat(inFlight()).isZero();
        end.countDown();
        assertThat(failureOf(late)).isInstanceOf(HoldExpiredException.class);
    }

    private static int untilInterrupted() throws InterruptedException {
        Thread.sleep(60_000);
        return 1;
    }

    /** Most often, the thread finds the hold over when it wakes up. */
    @Test
    void the_permit_of_a_thread_that_wakes_up_too_late_is_free() throws Exception {
        for (int i = 0; i < 20; i++) {
            HeldPermits before = permits.acquire(one);
            Future<Integer> late = threads.submit(() -> permits.call(one, BlockingPermitsTest::untilInterrupted));
            awaitWaiting(1);
            before.release();
            time.advanceBy(HOLD);
            assertThat(failureOf(late)).isInstanceOf(HoldExpiredException.class);
            assertThat(inFlight()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void the_interrupt_of_an_outer_call_is_repeated_after_an_inner_one(boolean isOuterFirst) throws Exception {
        TestTime ofInner = new TestTime();
        EmbeddedPermitPool inner = new EmbeddedPermitPool(
                "inner", PoolSettings.ofPermits(1).withMaxHold(HOLD), TenantShares.EQUAL, ofInner, PoolListener.NONE);
        BlockingPermits innerPermits = new BlockingPermits(inner);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<@Nullable Throwable> ofOuterWork = new AtomicReference<>();
        AtomicReference<Boolean> flagged = new AtomicReference<>();
        Future<?> nested = threads.submit(() -> {
            try {
                permits.call(one, () -> {
                    assertThatThrownBy(() -> innerPermits.call(one, () -> {
                                begun.countDown();
                                return awaitIgnoringInterrupts(end);
                            }))
                            .isInstanceOf(HoldExpiredException.class);
                    try {
                        return untilInterrupted();
                    } catch (InterruptedException e) {
                        ofOuterWork.set(e);
                        throw e;
                    }
                });
            } finally {
                flagged.set(Thread.currentThread().isInterrupted());
            }
            return null;
        });
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        for (TestTime each : isOuterFirst ? List.of(time, ofInner) : List.of(ofInner, time)) {
            each.advanceBy(HOLD);
        }
        end.countDown();
        assertThat(failureOf(nested)).isInstanceOf(HoldExpiredException.class);
        assertThat(ofOuterWork.get()).isInstanceOf(InterruptedException.class);
        assertThat(flagged.get())
                .as("the interrupt is over with the outer work")
                .isFalse();
    }

    private static int awaitIgnoringInterrupts(CountDownLatch end) {
        while (true) {
            try {
                end.await();
                return 1;
            } catch (InterruptedException e) {
                LockSupport.parkNanos(1_000);
            }
        }
    }

    @Test
    void an_interrupt_that_the_thread_had_before_the_end_of_the_hold_stays() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        AtomicReference<Boolean> flagged = new AtomicReference<>();
        Future<?> late = threads.submit(() -> {
            try {
                permits.call(one, () -> {
                    Thread.currentThread().interrupt();
                    begun.countDown();
                    while (end.getCount() > 0) {
                        LockSupport.parkNanos(1_000);
                    }
                    return 1;
                });
            } finally {
                flagged.set(Thread.currentThread().isInterrupted());
            }
            return null;
        });
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        time.advanceBy(HOLD);
        end.countDown();
        assertThat(failureOf(late)).isInstanceOf(HoldExpiredException.class);
        assertThat(flagged.get()).isTrue();
    }

    @Test
    void what_the_request_waits_for_to_quiesce_is_waited_for_after_the_work() throws Exception {
        Sinks.Empty<Void> ofCaller = Sinks.empty();
        CountDownLatch begun = new CountDownLatch(1);
        Future<Integer> late = threads.submit(() -> permits.call(one.withQuiesced(ofCaller.asMono()), () -> {
            begun.countDown();
            return untilInterrupted();
        }));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        time.advanceBy(HOLD);
        assertThat(failureOf(late)).isInstanceOf(HoldExpiredException.class);
        assertThat(inFlight()).isOne();
        ofCaller.tryEmitEmpty();
        assertThat(inFlight()).isZero();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> permits.call(one.withQuiesced(Mono.never()), () -> 1))
                .isInstanceOf(InterruptedException.class);
        assertThat(inFlight()).as("no work has begun").isZero();
    }

    @Test
    void a_thread_that_may_not_block_is_refused() {
        Mono<Integer> onParallel =
                Mono.fromCallable(() -> permits.call(one, () -> 1)).subscribeOn(Schedulers.parallel());
        assertThatThrownBy(onParallel::block)
                .hasMessageContaining("waits for permits (expected: a thread that may block");
        Mono<HeldPermits> handle = Mono.fromCallable(() -> permits.acquire(one)).subscribeOn(Schedulers.parallel());
        assertThatThrownBy(handle::block).hasMessageContaining("waits for permits");
    }

    @Test
    void many_threads_never_hold_more_than_the_pool_has() throws Exception {
        EmbeddedPermitPool four = new EmbeddedPermitPool("four", PoolSettings.ofPermits(4), TenantShares.EQUAL);
        BlockingPermits blocking = new BlockingPermits(four);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            PermitRequest request = PermitRequest.of("tenant-" + i % 7);
            boolean leaves = i % 10 == 0;
            Future<?> future = threads.submit(() -> blocking.call(request, () -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                LockSupport.parkNanos(1_000);
                now.decrementAndGet();
                return done.incrementAndGet();
            }));
            if (leaves) {
                future.cancel(true);
            } else {
                all.add(future);
            }
        }
        for (Future<?> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
        assertThat(most.get()).isLessThanOrEqualTo(4);
        assertThat(done.get()).isGreaterThanOrEqualTo(450);
        until(() -> NothingLeft.statusOf(four).inFlight() == 0);
        assertThat(NothingLeft.statusOf(four).waiting()).isZero();
    }
}
