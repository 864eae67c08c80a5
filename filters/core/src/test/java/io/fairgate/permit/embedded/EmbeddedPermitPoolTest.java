package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What only the embedded pool promises, in addition to the contract: it answers at once, on the thread of the caller. */
class EmbeddedPermitPoolTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    private EmbeddedPermitPool pool(PoolSettings settings) {
        nothingLeft.watch(time);
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, TenantShares.EQUAL, time, new PoolListener() {}));
    }

    @Test
    void reservations_beyond_the_permits_are_refused() {
        PoolSettings two = PoolSettings.ofPermits(2);
        TenantShares tooMuch =
                TenantShares.EQUAL.withMember(TenantId.of("a"), ShareSettings.EQUAL.withGuaranteed(3, 3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new EmbeddedPermitPool("test", two, tooMuch))
                .withMessageContaining("at least 3");
        EmbeddedPermitPool pool = pool(two);
        assertThat(pool.name()).isEqualTo("test");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.reconfigure(two, tooMuch))
                .withMessageContaining("at least 3");
    }

    @Test
    void a_refused_change_changes_nothing_and_a_valid_change_is_complete() {
        TenantShares quarter = TenantShares.EQUAL.withCalculator((permits, active) -> permits / 4);
        EmbeddedPermitPool pool = nothingLeft.watch(
                new EmbeddedPermitPool("test", PoolSettings.ofPermits(40), quarter, time, PoolListener.NONE));
        assertThatThrownBy(() -> pool.reconfigure(PoolSettings.ofPermits(3), quarter))
                .hasMessage("calculator: 0 for 3 permits and 1 active tenants (expected: >= 1)");
        assertThat(pool.settings().permits()).isEqualTo(40);
        assertThat(NothingLeft.statusOf(pool).permits()).isEqualTo(40);

        pool.reconfigure(PoolSettings.ofPermits(3), TenantShares.EQUAL).subscribe();
        assertThat(pool.settings().permits()).isEqualTo(3);
        assertThat(NothingLeft.statusOf(pool).permits()).isEqualTo(3);
        assertThat(pool.tryAcquire(PermitRequest.of("a").withPermits(4))).isNull();
        HeldPermits all =
                Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a").withPermits(3)));
        all.release();
    }

    @Test
    void collected_permits_are_not_on_the_fast_path() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(10));
        HeldPermits held =
                Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a").withPermits(5)));
        Disposable large = pool.withPermit(
                        PermitRequest.of("b").withPermits(8).withEventLoop(Runnable::run), Mono.never())
                .subscribe();
        for (int i = 0; i < 200; i++) {
            assertThat(NothingLeft.statusOf(pool).waiting()).isOne();
        }
        assertThat(pool.tryAcquire(PermitRequest.of("c"))).isNull();
        held.release();
        assertThat(NothingLeft.statusOf(pool).inFlight()).isEqualTo(8);
        large.dispose();
    }

    @Test
    void the_permit_is_back_when_the_subscriber_gets_the_element_and_the_completion() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        List<Integer> inFlight = new ArrayList<>();
        Runnable count = () -> inFlight.add(NothingLeft.statusOf(pool).inFlight());
        pool.withPermit(PermitRequest.of("a"), Mono.just(1)).subscribe(v -> count.run(), e -> {}, count);
        pool.withPermit(PermitRequest.of("a"), Mono.empty()).subscribe(v -> {}, e -> {}, count);
        assertThat(inFlight).containsExactly(0, 0, 0);
    }

    @Test
    void a_subscriber_that_has_cancelled_gets_no_refusal() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1).withMaxWaiting(0));
        HeldPermits held = Objects.requireNonNull(pool.tryAcquire(PermitRequest.of("a")));
        Queue<Runnable> eventLoop = new ArrayDeque<>();
        RecordsErrors subscriber = new RecordsErrors();
        pool.withPermit(PermitRequest.of("b").withEventLoop(eventLoop::add), Mono.just(1))
                .subscribe(subscriber);
        Objects.requireNonNull(subscriber.subscription).cancel();
        eventLoop.remove().run();
        assertThat(subscriber.errors).isEmpty();
        held.release();
    }

    /** Also records errors that come after it has cancelled. */
    private static final class RecordsErrors implements CoreSubscriber<Integer> {
        final List<Throwable> errors = new ArrayList<>();

        @Nullable
        Subscription subscription;

        @Override
        public void onSubscribe(Subscription subscription) {
            this.subscription = subscription;
        }

        @Override
        public void onNext(Integer element) {}

        @Override
        public void onError(Throwable error) {
            errors.add(error);
        }

        @Override
        public void onComplete() {}
    }

    /** What the JVM itself throws goes through Reactor as it is. */
    @Test
    void a_work_whose_class_cannot_be_loaded_releases_its_permit() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        AtomicInteger cancelled = new AtomicInteger();
        Mono<Integer> broken = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                actual.onSubscribe(new CountsCancels(cancelled));
                throw new NoClassDefFoundError("gone");
            }
        };
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(PermitRequest.of("a"), broken).subscribe(v -> {}, errors::add);
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).hasMessage("gone"));
        assertThat(cancelled).hasValue(1);
    }

    private record CountsCancels(AtomicInteger cancelled) implements Subscription {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            cancelled.incrementAndGet();
        }
    }

    private static PermitRequest request(String tenant) {
        return PermitRequest.of(tenant).withEventLoop(Runnable::run);
    }

    private static HeldPermits taken(EmbeddedPermitPool pool, String tenant, int permits) {
        return Objects.requireNonNull(pool.tryAcquire(request(tenant).withPermits(permits)), "no permits");
    }

    @Test
    void requests_handles_changes_and_questions_are_answered_at_once_on_the_thread_of_the_caller() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        HeldPermits held = taken(pool, "a", 1);
        Sinks.Empty<Void> end = Sinks.empty();
        AtomicInteger started = new AtomicInteger();
        pool.withPermit(request("b"), end.asMono().doOnSubscribe(s -> started.incrementAndGet()))
                .subscribe();
        List<HeldPermits> handles = new ArrayList<>();
        Disposable waiting = pool.acquire(request("b")).subscribe(handles::add);
        assertThat(NothingLeft.statusOf(pool).waiting()).isEqualTo(2);
        held.release();
        assertThat(started).hasValue(1);
        pool.reconfigure(PoolSettings.ofPermits(2), TenantShares.EQUAL).subscribe();
        assertThat(handles).hasSize(1);
        end.tryEmitEmpty().orThrow();
        assertThat(pool.inFlight().block()).isOne();
        waiting.dispose();
        handles.get(0).release();
        assertThat(pool.inFlight().block()).isZero();
    }

    @Test
    void a_work_without_an_event_loop_that_need_not_wait_is_subscribed_at_once() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        AtomicInteger started = new AtomicInteger();
        Disposable running = pool.withPermit(
                        PermitRequest.of("a"), Mono.never().doOnSubscribe(s -> started.incrementAndGet()))
                .subscribe();
        assertThat(started).hasValue(1);
        running.dispose();
    }

    @Test
    void a_hold_without_a_bound_sets_no_timer() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(1));
        Disposable running = pool.withPermit(request("a").withMaxHold(PoolSettings.MAX_DURATION), Mono.never())
                .subscribe();
        assertThat(time.timersLeft()).isZero();
        running.dispose();
    }

    @Test
    void all_waits_and_holds_share_one_timer() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(2).withMaxWait(Duration.ofSeconds(100)));
        List<Disposable> all = new ArrayList<>();
        for (int i = 1; i <= 10; i++) {
            all.add(pool.withPermit(request("a").withMaxWait(Duration.ofSeconds(i)), Mono.never())
                    .subscribe());
        }
        assertThat(time.timersLeft()).isOne();
        all.forEach(Disposable::dispose);
    }

    @Test
    void a_hold_counts_from_its_start_also_when_another_request_waits_before_its_work_is_subscribed() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(4));
        Map<Integer, Long> endedAt = new HashMap<>();
        pool.withPermit(request("c").withMaxHold(Duration.ofSeconds(4)), Mono.never())
                .subscribe(v -> {}, e -> endedAt.put(2, time.now(TimeUnit.MILLISECONDS)));
        Mono<Void> slow = Mono.defer(() -> {
            time.advanceBy(Duration.ofSeconds(2));
            taken(pool, "b", 2).release();
            return Mono.never();
        });
        pool.withPermit(request("a").withMaxHold(Duration.ofSeconds(5)), slow)
                .subscribe(v -> {}, e -> endedAt.put(1, time.now(TimeUnit.MILLISECONDS)));
        time.advanceBy(Duration.ofSeconds(20));
        assertThat(endedAt).containsOnly(entry(1, 5_000L), entry(2, 4_000L));
    }

    /** An event loop that runs tasks at once on the calling thread, and keeps the tasks of timers. */
    private static final class EventLoop extends ScheduledThreadPoolExecutor {
        final List<Runnable> later = new ArrayList<>();
        private final boolean takesTimers;

        EventLoop(boolean takesTimers) {
            super(0);
            this.takesTimers = takesTimers;
        }

        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (!takesTimers) {
                throw new RejectedExecutionException("shut down");
            }
            later.add(task);
            return super.schedule(() -> {}, 0, TimeUnit.NANOSECONDS);
        }
    }

    @Test
    void quiescing_that_takes_too_long_is_ended_by_a_timer_of_the_event_loop_or_else_by_one_of_the_pool() {
        EmbeddedPermitPool pool = pool(PoolSettings.ofPermits(2));
        EventLoop loop = new EventLoop(true);
        EventLoop shutDown = new EventLoop(false);
        for (EventLoop each : List.of(loop, shutDown)) {
            pool.withPermit(PermitRequest.of("a").withEventLoop(each).withQuiesced(Mono.never()), Mono.never())
                    .subscribe()
                    .dispose();
        }
        assertThat(NothingLeft.statusOf(pool).inFlight()).isEqualTo(2);
        time.advanceBy(PermitRequest.QUIESCE_WITHIN);
        assertThat(NothingLeft.statusOf(pool).inFlight())
                .as("only the one with a timer of its event loop")
                .isEqualTo(1);
        loop.later.forEach(Runnable::run);
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
        loop.shutdownNow();
        shutDown.shutdownNow();
    }
}
