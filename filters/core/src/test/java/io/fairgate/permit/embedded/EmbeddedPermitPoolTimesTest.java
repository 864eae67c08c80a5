package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Waits and holds that end by time in the embedded pool, timers that are cancelled, and the times that are reported. */
class EmbeddedPermitPoolTimesTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    private EmbeddedPermitPool pool(PoolSettings settings) {
        return pool(settings, new PoolListener() {});
    }

    private EmbeddedPermitPool pool(PoolSettings settings, PoolListener listener) {
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, TenantShares.EQUAL, nothingLeft.watch(time), listener));
    }

    @Test
    void a_hold_that_expires_before_the_start_ends_right_after_the_start() {
        EmbeddedPermitPool pool = pool(
                PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(1)).withMaxHold(Duration.ofSeconds(10)));
        HeldPermits first = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        Queue<Runnable> loop = new ArrayDeque<>();
        List<Throwable> errors = new ArrayList<>();
        AtomicInteger started = new AtomicInteger();
        Mono<Void> work = Mono.<Void>never().doOnSubscribe(s -> started.incrementAndGet());
        pool.withPermit(PermitRequest.of("b").withEventLoop(loop::add), work).subscribe(v -> {}, errors::add);
        first.release();
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(loop).as("its start, and its end").hasSize(2);

        loop.remove().run();
        assertThat(started).hasValue(1);
        loop.remove().run();
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).isInstanceOf(HoldExpiredException.class));
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void each_hold_on_the_fast_path_expires_at_its_own_time() {
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
    void ended_requests_leave_no_timer() {
        EmbeddedPermitPool pool = pool(
                PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)).withMaxHold(Duration.ofSeconds(10)));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        PermitRequest request = PermitRequest.of("b").withEventLoop(Runnable::run);
        List<Throwable> refused = new ArrayList<>();
        pool.withPermit(request, Mono.never()).subscribe().dispose();
        pool.withPermit(request, Mono.never()).subscribe(v -> {}, refused::add);
        time.advanceBy(Duration.ofSeconds(2));
        assertThat(refused).hasSize(1);
        Disposable done = pool.withPermit(request, Mono.never()).subscribe();
        held.release();
        done.dispose();

        time.advanceBy(Duration.ofSeconds(10));
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void repeated_closes_leave_no_timer() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        Sinks.Empty<Void> end = Sinks.empty();
        pool.withPermit(PermitRequest.of("a"), end.asMono()).subscribe();
        pool.close(Duration.ofMinutes(1)).subscribe();
        pool.close(Duration.ofMinutes(2)).subscribe();
        end.tryEmitEmpty().orThrow();
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void the_timer_on_the_event_loop_is_cancelled_when_a_cancelled_work_has_quiesced() {
        List<Future<?>> timers = new ArrayList<>();
        ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(0) {
            @Override
            public void execute(Runnable task) {
                task.run();
            }

            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                ScheduledFuture<?> timer = super.schedule(task, 1, TimeUnit.HOURS);
                timers.add(timer);
                return timer;
            }
        };
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        Sinks.Empty<Void> quiesced = Sinks.empty();
        pool.withPermit(PermitRequest.of("a").withEventLoop(loop).withQuiesced(quiesced.asMono()), Mono.never())
                .subscribe()
                .dispose();
        assertThat(timers)
                .singleElement()
                .satisfies(timer -> assertThat(timer.isCancelled()).isFalse());
        quiesced.tryEmitEmpty().orThrow();
        assertThat(timers)
                .singleElement()
                .satisfies(timer -> assertThat(timer.isCancelled()).isTrue());
        loop.shutdownNow();
    }

    @Test
    void a_wait_is_equally_long_with_and_without_a_listener() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)), PoolListener.NONE);
        time.advanceBy(Duration.ofMinutes(1));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        List<Throwable> refused = new ArrayList<>();
        pool.withPermit(PermitRequest.of("b"), Mono.empty()).subscribe(v -> {}, refused::add);
        pool.withPermit(PermitRequest.of("b").withEventLoop(Runnable::run), Mono.empty())
                .subscribe(v -> {}, refused::add);
        time.advanceBy(Duration.ofMillis(1_999));
        assertThat(refused).isEmpty();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(refused).hasSize(2);
        held.release();
    }

    @Test
    void the_listener_gets_the_wait_of_refused_and_abandoned_requests() {
        List<Duration> waits = new ArrayList<>();
        EmbeddedPermitPool pool =
                pool(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)), new PoolListener() {
                    @Override
                    public void refused(PoolRequest request, RefusalReason reason, long waitedNanos) {
                        waits.add(Duration.ofNanos(waitedNanos));
                    }

                    @Override
                    public void abandoned(PoolRequest request, long waitedNanos) {
                        waits.add(Duration.ofNanos(waitedNanos));
                    }
                });
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

    @Test
    void the_listener_gets_the_release_of_a_permit_of_the_fast_path() {
        List<Duration> holds = new ArrayList<>();
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1), new PoolListener() {
            @Override
            public void released(PoolRequest request, long heldNanos) {
                holds.add(Duration.ofNanos(heldNanos));
            }
        });
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        time.advanceBy(Duration.ofSeconds(3));
        held.release();
        held.release();
        assertThat(holds).containsExactly(Duration.ofSeconds(3));
    }

    @Test
    void the_status_contains_the_hold_of_a_permit_of_the_fast_path() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(2));
        time.advanceBy(Duration.ofSeconds(5));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(NothingLeft.statusOf(pool).tenants())
                .singleElement()
                .satisfies(tenant -> assertThat(tenant.held()).isEqualTo(Duration.ofSeconds(10)));
        held.release();
    }
}
