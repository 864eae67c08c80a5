package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.PoolTotals;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.fairness.TenantStanding;
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
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.test.StepVerifier;

/**
 * The contract of permit pools, which every backend must pass. All tests use virtual time, and each ends with nothing in
 * flight, nothing waiting and no timer left.
 */
public abstract class PermitPoolContract {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    protected final TestTime time = new TestTime();
    private final RecordingListener listener = new RecordingListener();

    /** Makes the pool under test, with these shares, this clock for its timers, and this listener. */
    protected abstract PermitPool newPool(
            PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener);

    private PermitPool poolOf(int permits) {
        return poolOf(PoolSettings.ofPermits(permits), TenantShares.EQUAL);
    }

    private PermitPool poolOf(PoolSettings settings, TenantShares shares) {
        nothingLeft.watch(time);
        return nothingLeft.watch(newPool(settings, shares, time, listener));
    }

    private static PermitRequest request(String tenant) {
        return PermitRequest.of(tenant).withHome(Runnable::run);
    }

    /** A work that runs until {@link #complete}, and counts its starts and cancellations. */
    private static final class Work {
        final Sinks.Empty<Void> end = Sinks.empty();
        final AtomicInteger started = new AtomicInteger();
        final AtomicInteger cancelled = new AtomicInteger();
        final Mono<Void> mono =
                end.asMono().doOnSubscribe(s -> started.incrementAndGet()).doOnCancel(cancelled::incrementAndGet);

        void complete() {
            end.tryEmitEmpty().orThrow();
        }
    }

    private static final class RecordingListener implements PoolListener {
        final AtomicInteger granted = new AtomicInteger();
        final AtomicInteger released = new AtomicInteger();
        final AtomicInteger abandoned = new AtomicInteger();
        final List<RefusalReason> refused = new ArrayList<>();
        final List<Duration> holds = new ArrayList<>();
        final List<Duration> waits = new ArrayList<>();

        @Override
        public void granted(TenantId tenant, int permits, long waitedNanos) {
            granted.incrementAndGet();
            waits.add(Duration.ofNanos(waitedNanos));
        }

        @Override
        public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
            refused.add(reason);
        }

        @Override
        public void abandoned(TenantId tenant, long waitedNanos) {
            abandoned.incrementAndGet();
        }

        @Override
        public void released(TenantId tenant, int permits, long heldNanos) {
            released.incrementAndGet();
            holds.add(Duration.ofNanos(heldNanos));
        }
    }

    private int inFlight(PermitPool pool) {
        return NothingLeft.statusOf(pool).inFlight();
    }

    private int waiting(PermitPool pool) {
        return NothingLeft.statusOf(pool).waiting();
    }

    // ---- basics ----

    @Test
    void nothing_is_asked_for_before_subscription() {
        PermitPool pool = poolOf(1);
        pool.withPermit(request("a"), new Work().mono);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void the_element_of_the_work_goes_through_and_the_permit_comes_back() {
        PermitPool pool = poolOf(1);
        StepVerifier.create(pool.withPermit(request("a"), Mono.just("answer")))
                .expectNext("answer")
                .verifyComplete();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void a_stream_holds_its_permit_to_its_last_element() {
        PermitPool pool = poolOf(1);
        Sinks.Many<Integer> upstream = Sinks.many().unicast().onBackpressureBuffer();
        StepVerifier.create(pool.withPermit(request("a"), upstream.asFlux()), 1)
                .then(() -> upstream.tryEmitNext(1).orThrow())
                .expectNext(1)
                .then(() -> assertThat(inFlight(pool)).isOne())
                .then(() -> upstream.tryEmitComplete().orThrow())
                .verifyComplete();
    }

    @Test
    void a_stream_is_asked_for_as_many_elements_as_its_subscriber_asks_for() {
        PermitPool pool = poolOf(1);
        List<Long> asked = new ArrayList<>();
        StepVerifier.create(pool.withPermit(request("a"), Flux.range(1, 10).doOnRequest(asked::add)), 2)
                .expectNext(1, 2)
                .thenRequest(3)
                .expectNext(3, 4, 5)
                .thenCancel()
                .verify();
        assertThat(asked).containsExactly(2L, 3L);
    }

    @Test
    void the_second_request_waits_until_the_first_gives_its_permit_back() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("b"), second.mono).subscribe();
        assertThat(second.started).hasValue(0);
        first.complete();
        assertThat(second.started).hasValue(1);
        second.complete();
    }

    @Test
    void the_tenant_comes_from_the_context() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        pool.withPermit(work.mono)
                .contextWrite(c -> c.put(PermitPool.TENANT, TenantId.of("a")))
                .subscribe();
        time.runDue();
        assertThat(NothingLeft.statusOf(pool).tenants())
                .singleElement()
                .satisfies(t -> assertThat(t.tenant()).isEqualTo(TenantId.of("a")));
        work.complete();
    }

    @Test
    void without_a_tenant_in_the_context_it_says_how_to_put_one_there() {
        StepVerifier.create(poolOf(1).withPermit(Mono.just(1)))
                .expectErrorSatisfies(e ->
                        assertThat(e).isInstanceOf(IllegalStateException.class).hasMessageContaining("contextWrite"))
                .verify();
    }

    @Test
    void the_error_of_the_work_goes_through_and_the_permit_comes_back() {
        PermitPool pool = poolOf(1);
        StepVerifier.create(pool.withPermit(request("a"), Mono.error(new IllegalArgumentException("broken"))))
                .expectErrorMessage("broken")
                .verify();
    }

    // ---- races of cancellation ----

    @Test
    void case_1_cancelled_before_the_grant_frees_the_place_at_once() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        Disposable waiting = pool.withPermit(request("a"), second.mono).subscribe();
        assertThat(waiting(pool)).isOne();
        waiting.dispose();
        assertThat(waiting(pool)).isZero();
        first.complete();
        assertThat(second.started).hasValue(0);
        assertThat(listener.abandoned).hasValue(1);
    }

    @Test
    void case_1_cancelled_between_grant_and_start_gives_the_permit_to_the_next() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> home = new ArrayDeque<>();
        Work granted = new Work();
        Work next = new Work();
        Disposable first = pool.withPermit(PermitRequest.of("a").withHome(home::add), granted.mono)
                .subscribe();
        pool.withPermit(request("b"), next.mono).subscribe();
        assertThat(inFlight(pool)).isOne();
        first.dispose();
        assertThat(next.started).hasValue(1);
        home.forEach(Runnable::run);
        assertThat(granted.started).hasValue(0);
        assertThat(inFlight(pool)).isOne();
        next.complete();
    }

    @Test
    void case_1_cancelled_while_it_starts_cancels_the_work_and_releases_once() {
        PermitPool pool = poolOf(1);
        AtomicInteger cancelled = new AtomicInteger();
        Disposable[] self = new Disposable[1];
        Queue<Runnable> home = new ArrayDeque<>();
        Mono<Void> work = Mono.defer(() -> {
            self[0].dispose();
            return Mono.<Void>never().doOnCancel(cancelled::incrementAndGet);
        });
        self[0] =
                pool.withPermit(PermitRequest.of("a").withHome(home::add), work).subscribe();
        home.forEach(Runnable::run);
        assertThat(cancelled).hasValue(1);
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void case_1_cancelled_while_it_starts_keeps_the_permit_until_the_start_is_over() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> home = new ArrayDeque<>();
        Disposable.Swap subscription = reactor.core.Disposables.swap();
        List<Integer> inFlight = new ArrayList<>();
        Mono<Void> cancelledOnTheWay = Mono.<Void>never().doOnSubscribe(s -> {
            subscription.dispose();
            inFlight.add(inFlight(pool));
        });
        subscription.update(pool.withPermit(PermitRequest.of("a").withHome(home::add), cancelledOnTheWay)
                .subscribe());
        home.remove().run();
        assertThat(inFlight).containsExactly(1);
        assertThat(inFlight(pool)).isZero();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_cancelled_work_comes_back_when_it_has_settled() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> settled = Sinks.empty();
        Work work = new Work();
        Disposable holder = pool.withPermit(request("a").withSettled(settled.asMono()), work.mono)
                .subscribe();
        holder.dispose();
        assertThat(work.cancelled).hasValue(1);
        assertThat(inFlight(pool)).isEqualTo(1);
        settled.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void a_cancelled_work_that_never_settles_or_fails_to_gives_its_permit_back_all_the_same() {
        PermitPool pool = poolOf(2);
        Sinks.Empty<Void> tooLate = Sinks.empty();
        pool.withPermit(request("a").withSettled(tooLate.asMono()), new Work().mono)
                .subscribe()
                .dispose();
        pool.withPermit(request("a").withSettled(Mono.error(new IllegalStateException("boom"))), new Work().mono)
                .subscribe()
                .dispose();
        assertThat(inFlight(pool)).isEqualTo(1);
        time.advanceBy(PermitRequest.SETTLE_WITHIN);
        assertThat(inFlight(pool)).isZero();
        tooLate.tryEmitEmpty().orThrow();
        assertThat(listener.released).hasValue(2);
    }

    @Test
    void a_request_may_say_how_long_its_permit_waits_for_a_cancelled_work_to_settle() {
        PermitPool pool = poolOf(1);
        Duration within = PermitRequest.SETTLE_WITHIN.multipliedBy(60);
        AtomicBoolean isLeft = new AtomicBoolean();
        Mono<Void> settled = Mono.<Void>never().doOnCancel(() -> isLeft.set(true));
        pool.withPermit(request("a").withSettled(settled).withSettleWithin(within), new Work().mono)
                .subscribe()
                .dispose();
        time.advanceBy(within.minusMillis(1));
        assertThat(inFlight(pool)).isEqualTo(1);
        assertThat(isLeft).isFalse();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(inFlight(pool)).isZero();
        assertThat(isLeft).as("nothing waits for it any more").isTrue();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void the_permit_of_a_failed_work_comes_back_when_it_has_settled_and_the_error_goes_on_at_once() {
        PermitPool pool = poolOf(1);
        Sinks.Empty<Void> settled = Sinks.empty();
        StepVerifier.create(pool.withPermit(
                        request("a").withSettled(settled.asMono()), Mono.error(new IllegalStateException("boom"))))
                .expectErrorMessage("boom")
                .verify();
        assertThat(inFlight(pool)).isEqualTo(1);
        settled.tryEmitEmpty().orThrow();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_work_that_completes_need_not_settle() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        pool.withPermit(request("a").withSettled(Mono.never()), work.mono).subscribe();
        work.complete();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void what_a_cancelled_work_had_emitted_is_discarded() {
        PermitPool pool = poolOf(1);
        List<Object> discarded = new ArrayList<>();
        pool.withPermit(request("a"), new EmitsAndGoesOn(7))
                .doOnDiscard(Integer.class, discarded::add)
                .subscribe()
                .dispose();
        assertThat(discarded).containsExactly(7);
    }

    @Test
    void the_listener_hears_how_long_it_waited_and_how_long_it_held() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(1)), TenantShares.EQUAL);
        Work first = new Work();
        Work second = new Work();
        time.advanceBy(Duration.ofSeconds(5));
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("a"), second.mono).subscribe();
        time.advanceBy(Duration.ofSeconds(3));
        first.complete();
        time.advanceBy(Duration.ofSeconds(4));
        second.complete();
        assertThat(listener.waits).containsExactly(Duration.ZERO, Duration.ofSeconds(3));
        assertThat(listener.holds).containsExactly(Duration.ofSeconds(3), Duration.ofSeconds(4));
    }

    @Test
    void case_1_cancelled_after_the_end_changes_nothing() {
        PermitPool pool = poolOf(1);
        BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {};
        pool.withPermit(request("a"), Mono.just(1)).subscribe(subscriber);
        subscriber.cancel();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void case_2_a_timeout_after_the_grant_changes_nothing() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)), TenantShares.EQUAL);
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("b"), second.mono).subscribe();
        time.advanceBy(Duration.ofMillis(999));
        first.complete();
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(second.cancelled).hasValue(0);
        assertThat(inFlight(pool)).isOne();
        second.complete();
    }

    @Test
    void case_2_a_cancel_after_the_timeout_changes_nothing() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)), TenantShares.EQUAL);
        Work first = new Work();
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(request("a"), first.mono).subscribe();
        Disposable second = pool.withPermit(request("b"), new Work().mono).subscribe(v -> {}, errors::add);
        time.advanceBy(Duration.ofSeconds(1));
        second.dispose();
        assertThat(errors).singleElement().isInstanceOf(PermitRefusedException.class);
        assertThat(listener.refused).containsExactly(RefusalReason.MAX_WAIT);
        assertThat(listener.abandoned).hasValue(0);
        first.complete();
    }

    @Test
    void case_3_an_error_that_follows_a_cancel_releases_nothing_again() {
        PermitPool pool = poolOf(2);
        Misbehaving work = new Misbehaving();
        Disposable running = pool.withPermit(request("a"), work).subscribe(v -> {}, e -> {});
        running.dispose();
        withDroppedErrors(() -> work.actual().onError(new IllegalStateException("late")));
        assertThat(listener.released).hasValue(1);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void case_3_repeated_terminal_signals_release_once() {
        PermitPool pool = poolOf(2);
        Misbehaving work = new Misbehaving();
        pool.withPermit(request("a"), work).subscribe();
        work.actual().onComplete();
        work.actual().onComplete();
        withDroppedErrors(() -> work.actual().onError(new IllegalStateException("late")));
        assertThat(listener.released).hasValue(1);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void case_3_what_comes_after_the_end_reaches_nobody_and_is_told_of() {
        PermitPool pool = poolOf(2);
        List<String> signals = new ArrayList<>();
        List<Object> dropped = new ArrayList<>();
        Misbehaving completes = new Misbehaving();
        pool.withPermit(request("a"), completes).subscribe(new Recording(signals));
        MisbehavingStream cancelled = new MisbehavingStream();
        Recording leaves = new Recording(signals);
        pool.withPermit(request("a"), cancelled).subscribe(leaves);
        Hooks.onErrorDropped(dropped::add);
        Hooks.onNextDropped(dropped::add);
        try {
            completes.actual().onComplete();
            completes.actual().onComplete();
            leaves.cancel();
            cancelled.actual().onNext(7);
            cancelled.actual().onComplete();
            completes.actual().onError(new IllegalStateException("late"));
        } finally {
            Hooks.resetOnErrorDropped();
            Hooks.resetOnNextDropped();
        }
        assertThat(signals).containsExactly("complete");
        assertThat(dropped).hasSize(2).first().isEqualTo(7);
    }

    @Test
    void case_4_cancelled_while_it_is_subscribed_a_stream_emits_no_more() {
        PermitPool pool = poolOf(1);
        AtomicInteger emitted = new AtomicInteger();
        pool.withPermit(request("a"), Flux.range(0, 1_000).doOnNext(i -> emitted.incrementAndGet()))
                .subscribe(new BaseSubscriber<>() {
                    @Override
                    protected void hookOnNext(Integer value) {
                        cancel();
                    }
                });
        assertThat(emitted).hasValue(1);
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void case_4_cancelled_before_it_asked_for_anything_never_takes_a_permit() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        pool.withPermit(request("a"), work.mono).subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.cancel();
            }
        });
        assertThat(work.started).hasValue(0);
        assertThat(listener.granted).hasValue(0);
    }

    @Test
    void case_4_cancelled_before_the_work_gave_its_subscription_cancels_it_when_it_comes() {
        PermitPool pool = poolOf(1);
        AtomicInteger cancelled = new AtomicInteger();
        LateSubscription work = new LateSubscription(cancelled);
        Disposable running = pool.withPermit(request("a"), work).subscribe();
        running.dispose();
        assertThat(inFlight(pool)).isZero();
        work.giveSubscription();
        assertThat(cancelled).hasValue(1);
    }

    // ---- where the work runs ----

    @Test
    void case_5_a_hundred_thousand_immediate_completions_do_not_grow_the_stack() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(100_000), TenantShares.EQUAL);
        Work first = new Work();
        AtomicInteger done = new AtomicInteger();
        pool.withPermit(request("a"), first.mono).subscribe();
        for (int i = 0; i < 100_000; i++) {
            pool.withPermit(request("b"), Mono.<Void>empty()).subscribe(v -> {}, e -> {}, done::incrementAndGet);
        }
        first.complete();
        time.runDue();
        assertThat(done).hasValue(100_000);
    }

    @Test
    void case_6_a_work_that_throws_when_it_is_subscribed_gives_the_permit_back() {
        PermitPool pool = poolOf(1);
        Mono<Integer> throwing = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                throw new IllegalStateException("at assembly");
            }
        };
        StepVerifier.create(pool.withPermit(request("a"), throwing))
                .expectErrorMessage("at assembly")
                .verify();
    }

    @Test
    void case_7_a_release_inside_the_work_of_another_is_not_lost() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work last = new Work();
        Work blocker = new Work();
        pool.withPermit(request("a"), blocker.mono).subscribe();
        pool.withPermit(request("a"), first.mono.doOnSubscribe(s -> first.complete()))
                .subscribe();
        pool.withPermit(request("a"), last.mono).subscribe();
        blocker.complete();
        assertThat(last.started).hasValue(1);
        last.complete();
    }

    @Test
    void case_8_a_home_that_takes_no_work_any_more_returns_the_permit_and_tells_the_subscriber() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        StepVerifier.create(pool.withPermit(
                        PermitRequest.of("a").withHome(task -> {
                            throw new RejectedExecutionException("shut down");
                        }),
                        work.mono))
                .expectError(RejectedExecutionException.class)
                .verify();
        assertThat(work.started).hasValue(0);
    }

    @Test
    void case_8_a_refusal_reaches_its_subscriber_also_when_its_home_takes_no_work_any_more() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)), TenantShares.EQUAL);
        Work first = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(
                        PermitRequest.of("a").withHome(task -> {
                            throw new RejectedExecutionException("shut down");
                        }),
                        new Work().mono)
                .subscribe(v -> {}, errors::add);
        time.advanceBy(Duration.ofSeconds(2));
        assertThat(errors).singleElement().satisfies(e -> assertReason(e, RefusalReason.MAX_WAIT));
        first.complete();
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
    void what_never_settles_is_ended_by_the_clock_of_its_home_and_without_one_by_that_of_the_pool() {
        PermitPool pool = poolOf(2);
        EventLoop home = new EventLoop(true);
        EventLoop shutDown = new EventLoop(false);
        for (EventLoop loop : List.of(home, shutDown)) {
            pool.withPermit(PermitRequest.of("a").withHome(loop).withSettled(Mono.never()), new Work().mono)
                    .subscribe()
                    .dispose();
        }
        assertThat(inFlight(pool)).isEqualTo(2);
        time.advanceBy(PermitRequest.SETTLE_WITHIN);
        assertThat(inFlight(pool)).as("only the one at home").isEqualTo(1);
        home.later.forEach(Runnable::run);
        assertThat(inFlight(pool)).isZero();
        assertThat(listener.released).hasValue(2);
        home.shutdownNow();
        shutDown.shutdownNow();
    }

    @Test
    void a_grant_runs_on_the_home_of_its_own_request() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> homeOfSecond = new ArrayDeque<>();
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(PermitRequest.of("b").withHome(homeOfSecond::add), second.mono)
                .subscribe();
        first.complete();
        assertThat(second.started).hasValue(0);
        homeOfSecond.remove().run();
        assertThat(second.started).hasValue(1);
        second.complete();
    }

    @Test
    void case_14_a_waiter_that_was_cancelled_after_its_grant_wakes_the_next() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> slowHome = new ArrayDeque<>();
        Work first = new Work();
        Work third = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        Disposable second = pool.withPermit(PermitRequest.of("b").withHome(slowHome::add), new Work().mono)
                .subscribe();
        pool.withPermit(request("c"), third.mono).subscribe();
        first.complete();
        assertThat(third.started).hasValue(0);
        second.dispose();
        assertThat(third.started).hasValue(1);
        third.complete();
    }

    @Test
    void case_15_several_permits_given_back_at_once_wake_as_many() {
        PermitPool pool = poolOf(3);
        Work large = new Work();
        List<Work> small = List.of(new Work(), new Work(), new Work());
        pool.withPermit(request("a").withPermits(3), large.mono).subscribe();
        small.forEach(work -> pool.withPermit(request("b"), work.mono).subscribe());
        large.complete();
        assertThat(small).allSatisfy(work -> assertThat(work.started).hasValue(1));
        small.forEach(Work::complete);
    }

    @Test
    void case_18_more_permits_than_can_ever_be_had_are_refused_at_once() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                new TenantShares(
                        Map.of(TenantId.of("capped"), ShareSettings.EQUAL.withMaxInFlight(2)), ShareSettings.EQUAL));
        StepVerifier.create(pool.withPermit(request("a").withPermits(5), Mono.just(1)))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.TOO_LARGE))
                .verify();
        StepVerifier.create(pool.withPermit(request("capped").withPermits(3), Mono.just(1)))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.TOO_LARGE))
                .verify();
    }

    @Test
    void it_says_whether_a_tenant_could_ever_be_granted_that_many_however_many_are_free_now() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                new TenantShares(
                        Map.of(
                                TenantId.of("capped"), ShareSettings.EQUAL.withMaxInFlight(2),
                                TenantId.of("sure"), ShareSettings.EQUAL.withGuaranteed(1, 1)),
                        ShareSettings.EQUAL));
        Work all = new Work();
        pool.withPermit(request("sure").withPermits(4), all.mono).subscribe();
        List<Boolean> could = new ArrayList<>();
        pool.couldGrant(TenantId.of("a"), 3).subscribe(could::add);
        pool.couldGrant(TenantId.of("a"), 4).subscribe(could::add);
        pool.couldGrant(TenantId.of("sure"), 4).subscribe(could::add);
        pool.couldGrant(TenantId.of("sure"), 5).subscribe(could::add);
        pool.couldGrant(TenantId.of("capped"), 2).subscribe(could::add);
        pool.couldGrant(TenantId.of("capped"), 3).subscribe(could::add);
        assertThat(could).containsExactly(true, false, true, false, true, false);
        all.complete();
    }

    @Test
    void case_18_no_permits_or_fewer_cannot_be_asked_for() {
        assertThatThrownBy(() -> request("a").withPermits(0)).hasMessage("permits: 0 (expected: 1 to 1000000)");
        assertThatThrownBy(() -> request("a").withPermits(Integer.MIN_VALUE)).hasMessageContaining("expected");
        assertThatThrownBy(() -> request("a").withPermits(Integer.MAX_VALUE)).hasMessageContaining("expected");
    }

    // ---- bounds ----

    @Test
    void a_waiter_is_refused_after_its_maximum_wait() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)), TenantShares.EQUAL);
        Work first = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        StepVerifier.create(pool.withPermit(request("b"), new Work().mono))
                .then(() -> time.advanceBy(Duration.ofMillis(1999)))
                .then(() -> assertThat(waiting(pool)).isOne())
                .then(() -> time.advanceBy(Duration.ofMillis(1)))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.MAX_WAIT))
                .verify();
        first.complete();
    }

    @Test
    void a_request_that_says_how_long_it_waits_waits_that_long() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)), TenantShares.EQUAL);
        Work first = new Work();
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("b").withMaxWait(Duration.ofSeconds(1)), new Work().mono)
                .subscribe(v -> {}, errors::add);
        pool.withPermit(request("b").withMaxWait(Duration.ofSeconds(9)), new Work().mono)
                .subscribe(v -> {}, errors::add);
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(errors).hasSize(1);
        time.advanceBy(Duration.ofSeconds(7));
        assertThat(errors).hasSize(1);
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(errors).hasSize(2);
        first.complete();
    }

    @Test
    void who_waits_behind_its_own_cap_is_told_so() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                new TenantShares(
                        Map.of(TenantId.of("a"), ShareSettings.EQUAL.withMaxInFlight(1)), ShareSettings.EQUAL));
        Work first = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        StepVerifier.create(pool.withPermit(request("a"), new Work().mono))
                .then(() -> time.advanceBy(PoolSettings.DEFAULT_MAX_WAIT))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.TENANT_CAP))
                .verify();
        first.complete();
    }

    @Test
    void a_tenant_with_a_full_queue_is_refused_and_others_are_not() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(1),
                new TenantShares(Map.of(TenantId.of("a"), ShareSettings.EQUAL.withMaxWaiting(1)), ShareSettings.EQUAL));
        List<Work> works = List.of(new Work(), new Work(), new Work());
        pool.withPermit(request("a"), works.get(0).mono).subscribe();
        pool.withPermit(request("a"), works.get(1).mono).subscribe();
        StepVerifier.create(pool.withPermit(request("a"), new Work().mono))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.TENANT_QUEUE_FULL))
                .verify();
        pool.withPermit(request("b"), works.get(2).mono).subscribe();
        assertThat(waiting(pool)).isEqualTo(2);
        works.get(0).complete();
        works.get(2).complete();
        works.get(1).complete();
    }

    @Test
    void a_full_pool_refuses_the_newest_of_the_longest_queue_and_lets_the_short_one_in() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(3), TenantShares.EQUAL);
        Work running = new Work();
        List<Throwable> flooded = new ArrayList<>();
        List<Disposable> queued = new ArrayList<>();
        pool.withPermit(request("flood"), running.mono).subscribe();
        for (int i = 0; i < 3; i++) {
            queued.add(pool.withPermit(request("flood"), new Work().mono).subscribe(v -> {}, flooded::add));
        }
        queued.add(pool.withPermit(request("quiet"), new Work().mono).subscribe());
        assertThat(flooded).singleElement().satisfies(e -> assertReason(e, RefusalReason.POOL_QUEUE_FULL));
        assertThat(waiting(pool)).isEqualTo(3);
        queued.forEach(Disposable::dispose);
        running.complete();
    }

    @Test
    void a_pool_without_a_queue_still_serves_what_need_not_wait() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(0), TenantShares.EQUAL);
        Work first = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        assertThat(first.started).hasValue(1);
        StepVerifier.create(pool.withPermit(request("b"), new Work().mono))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.POOL_QUEUE_FULL))
                .verify();
        first.complete();
    }

    @Test
    void a_work_that_holds_for_too_long_is_cancelled_and_its_permit_comes_back() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxHold(Duration.ofSeconds(5)), TenantShares.EQUAL);
        Work endless = new Work();
        StepVerifier.create(pool.withPermit(request("a"), endless.mono))
                .then(() -> time.advanceBy(Duration.ofSeconds(5)))
                .expectError(HoldExpiredException.class)
                .verify();
        assertThat(endless.cancelled).hasValue(1);
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void a_stream_that_holds_for_too_long_is_cut_off_with_an_error() {
        PermitPool pool = poolOf(1);
        StepVerifier.create(pool.withPermit(
                        request("a").withMaxHold(Duration.ofSeconds(1)), Flux.concat(Flux.just(1), Flux.never())))
                .expectNext(1)
                .then(() -> time.advanceBy(Duration.ofSeconds(1)))
                .expectError(HoldExpiredException.class)
                .verify();
    }

    @Test
    void case_34_a_grant_whose_time_was_up_on_the_way_home_is_refused_and_its_permit_comes_back() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)), TenantShares.EQUAL);
        Queue<Runnable> stuckHome = new ArrayDeque<>();
        Work work = new Work();
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(PermitRequest.of("a").withHome(stuckHome::add), work.mono)
                .subscribe(v -> {}, errors::add);
        time.advanceBy(Duration.ofSeconds(2));
        stuckHome.forEach(Runnable::run);
        assertThat(work.started).hasValue(0);
        assertThat(errors).singleElement().satisfies(e -> assertReason(e, RefusalReason.MAX_WAIT));
    }

    @Test
    void case_33_one_timer_ends_every_wait_at_its_time() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(100)), TenantShares.EQUAL);
        Work first = new Work();
        List<Integer> ended = new ArrayList<>();
        pool.withPermit(request("a").withMaxHold(Duration.ofHours(1)), first.mono)
                .subscribe();
        List<Integer> seconds =
                new ArrayList<>(IntStream.rangeClosed(1, 100).boxed().toList());
        Collections.shuffle(seconds, new Random(1));
        for (int i : seconds) {
            PermitRequest request = request("t" + i % 7).withMaxWait(Duration.ofSeconds(i));
            Disposable waiting = pool.withPermit(request, new Work().mono).subscribe(v -> {}, e -> ended.add(i));
            if (i % 3 == 0) {
                waiting.dispose();
            }
        }
        assertThat(time.timersLeft()).as("timers").isOne();
        for (int i = 1; i <= 100; i++) {
            time.advanceBy(Duration.ofMillis(999));
            assertThat(ended).as("ended before %d s", i).doesNotContain(i);
            time.advanceBy(Duration.ofMillis(1));
            assertThat(ended.contains(i)).as("ended at %d s", i).isEqualTo(i % 3 != 0);
        }
        first.complete();
    }

    @Test
    void every_hold_ends_at_its_time_whether_the_permit_lay_open_or_was_waited_for() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(20).withMaxWait(Duration.ofSeconds(100)), TenantShares.EQUAL);
        Map<Integer, Long> endedAt = new HashMap<>();
        // The first requests take open permits, in an order in which the timer must be set anew; then one has to wait.
        for (int i : new int[] {9, 5, 7, 3, 8, 5, 6, 4}) {
            hold(pool, request("a").withMaxHold(Duration.ofSeconds(i)), i, endedAt);
            time.advanceBy(Duration.ofMillis(100));
        }
        HeldPermits rest = taken(pool, "b", 12);
        hold(pool, request("c").withMaxHold(Duration.ofSeconds(2)), 2, endedAt);
        time.advanceBy(Duration.ofSeconds(1));
        rest.release();
        time.advanceBy(Duration.ofSeconds(20));
        assertThat(endedAt)
                .containsOnly(
                        entry(9, 9_000L),
                        entry(5, 5_500L),
                        entry(7, 7_200L),
                        entry(3, 3_300L),
                        entry(8, 8_400L),
                        entry(6, 6_600L),
                        entry(4, 4_700L),
                        entry(2, 3_800L));
    }

    @Test
    void a_hold_counts_from_its_start_also_when_somebody_has_to_wait_before_its_work_is_subscribed() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4), TenantShares.EQUAL);
        Map<Integer, Long> endedAt = new HashMap<>();
        hold(pool, request("c").withMaxHold(Duration.ofSeconds(4)), 2, endedAt);
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

    private void hold(PermitPool pool, PermitRequest request, int name, Map<Integer, Long> endedAt) {
        pool.withPermit(request, new Work().mono)
                .subscribe(v -> {}, e -> endedAt.put(name, time.now(TimeUnit.MILLISECONDS)));
    }

    @Test
    void who_has_to_wait_is_told_and_who_has_not_is_not() {
        PermitPool pool = poolOf(1);
        AtomicInteger told = new AtomicInteger();
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a").withOnWaiting(told::incrementAndGet), first.mono)
                .subscribe();
        assertThat(told).hasValue(0);
        pool.withPermit(request("a").withOnWaiting(told::incrementAndGet), second.mono)
                .subscribe();
        assertThat(told).hasValue(1);
        first.complete();
        second.complete();
    }

    // ---- special cases ----

    @Test
    void when_who_permits_are_collected_for_has_to_leave_the_others_get_them() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4).withMaxWaiting(2), TenantShares.EQUAL);
        HeldPermits held = taken(pool, "h", 2);
        List<Work> works = List.of(new Work(), new Work(), new Work());
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(request("t").withPermits(3), works.get(0).mono).subscribe(v -> {}, errors::add);
        pool.withPermit(request("u"), works.get(1).mono).subscribe();
        pool.withPermit(request("v"), works.get(2).mono).subscribe();
        assertThat(errors).singleElement().satisfies(e -> assertReason(e, RefusalReason.POOL_QUEUE_FULL));
        assertThat(works.get(1).started).hasValue(1);
        assertThat(works.get(2).started).hasValue(1);
        held.release();
        works.get(1).complete();
        works.get(2).complete();
    }

    @Test
    void a_queue_without_a_bound_has_none() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(Integer.MAX_VALUE), TenantShares.EQUAL);
        HeldPermits held = taken(pool, "a", 1);
        Work work = new Work();
        pool.withPermit(request("a"), work.mono).subscribe();
        assertThat(waiting(pool)).isOne();
        held.release();
        work.complete();
    }

    @Test
    @SuppressWarnings("NullAway") // A caller without null checks can do this.
    void a_request_without_a_tenant_cannot_be_made() {
        assertThatThrownBy(() -> PermitRequest.of((TenantId) null)).hasMessage("tenant");
    }

    @Test
    void a_home_that_runs_what_it_is_given_and_then_throws_ends_no_healthy_work() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        List<Throwable> errors = new ArrayList<>();
        PermitRequest odd = PermitRequest.of("a").withHome(task -> {
            task.run();
            throw new RejectedExecutionException("too late");
        });
        pool.withPermit(odd, first.mono).subscribe(v -> {}, errors::add);
        pool.withPermit(odd, second.mono).subscribe(v -> {}, errors::add);
        assertThat(first.started).hasValue(1);
        first.complete();
        assertThat(second.started).hasValue(1);
        second.complete();
        pool.close(Duration.ofSeconds(Long.MAX_VALUE)).subscribe();
        pool.withPermit(odd, new Work().mono).subscribe(v -> {}, errors::add);
        assertThat(errors).singleElement().satisfies(e -> assertReason(e, RefusalReason.DRAINING));
        assertThat(listener.refused).containsExactly(RefusalReason.DRAINING);
    }

    @Test
    void a_handle_that_is_not_asked_for_within_the_maximum_hold_is_taken_back_with_an_error() {
        PermitPool pool = poolOf(1);
        List<Throwable> errors = new ArrayList<>();
        BaseSubscriber<HeldPermits> late = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}

            @Override
            protected void hookOnError(Throwable error) {
                errors.add(error);
            }
        };
        pool.acquire(request("a").withMaxHold(Duration.ofSeconds(5))).subscribe(late);
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(errors).singleElement().satisfies(e -> assertThat(e).isInstanceOf(HoldExpiredException.class));
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_handle_is_not_handed_over_before_it_is_asked_for() {
        PermitPool pool = poolOf(1);
        List<HeldPermits> handles = new ArrayList<>();
        BaseSubscriber<HeldPermits> late = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}

            @Override
            protected void hookOnNext(HeldPermits handle) {
                handles.add(handle);
            }
        };
        pool.acquire(request("a")).subscribe(late);
        assertThat(handles).isEmpty();
        assertThat(inFlight(pool)).isOne();
        late.request(1);
        assertThat(handles).hasSize(1);
        handles.get(0).release();

        BaseSubscriber<HeldPermits> gone = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}
        };
        pool.acquire(request("a")).subscribe(gone);
        assertThat(inFlight(pool)).isOne();
        gone.cancel();
        assertThat(inFlight(pool)).isZero();
    }

    // ---- without waiting ----

    @Test
    void permits_can_be_taken_without_waiting_and_come_back_once_however_often_they_are_released() {
        PermitPool pool = poolOf(2);
        HeldPermits first = taken(pool, "a", 1);
        HeldPermits second = taken(pool, "b", 1);
        assertThat(pool.tryAcquire(request("a"))).isNull();
        first.release();
        first.release();
        HeldPermits third = taken(pool, "c", 1);
        first.release();
        assertThat(pool.tryAcquire(request("a"))).isNull();
        assertThat(inFlight(pool)).isEqualTo(2);
        first.release();
        second.release();
        second.release();
        third.close();
        assertThat(inFlight(pool)).isZero();
        assertThat(listener.granted).hasValue(3);
        assertThat(listener.released).hasValue(3);
    }

    @Test
    void several_permits_are_taken_together_or_not_at_all() {
        PermitPool pool = poolOf(3);
        HeldPermits two = taken(pool, "a", 2);
        assertThat(pool.tryAcquire(request("b").withPermits(2))).isNull();
        HeldPermits one = taken(pool, "b", 1);
        two.release();
        one.release();
    }

    @Test
    void a_handle_knows_whether_its_permits_are_held() {
        PermitPool pool = poolOf(3);
        for (int permits = 1; permits <= 3; permits++) {
            HeldPermits held = taken(pool, "a", permits);
            assertThat(held.isHeld()).isTrue();
            held.release();
            assertThat(held.isHeld()).isFalse();
        }
    }

    @Test
    void nobody_who_waits_is_overtaken_by_who_does_not() {
        PermitPool pool = poolOf(2);
        HeldPermits first = taken(pool, "a", 1);
        Work large = new Work();
        pool.withPermit(request("b").withPermits(2), large.mono).subscribe();
        assertThat(pool.tryAcquire(request("c"))).isNull();
        assertThat(waiting(pool)).isOne();
        first.release();
        assertThat(large.started).hasValue(1);
        large.complete();
    }

    @Test
    void permits_that_were_taken_without_waiting_count_for_the_share_of_their_tenant() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(2).withMaxWait(Duration.ofMinutes(1)), TenantShares.EQUAL);
        HeldPermits first = taken(pool, "noisy", 1);
        HeldPermits second = taken(pool, "noisy", 1);
        List<Work> works = List.of(new Work(), new Work());
        pool.withPermit(request("noisy"), works.get(0).mono).subscribe();
        pool.withPermit(request("quiet"), works.get(1).mono).subscribe();
        first.release();
        assertThat(works.get(0).started).as("the one who holds one already").hasValue(0);
        assertThat(works.get(1).started).as("the one who holds none").hasValue(1);
        second.release();
        works.forEach(Work::complete);
    }

    @Test
    void a_closing_pool_gives_nothing_away_and_waits_for_what_was_taken() {
        PermitPool pool = poolOf(2);
        HeldPermits held = taken(pool, "a", 1);
        AtomicInteger closed = new AtomicInteger();
        pool.close(Duration.ofSeconds(1)).subscribe(v -> {}, e -> {}, closed::incrementAndGet);
        assertThat(pool.tryAcquire(request("a"))).isNull();
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(closed).hasValue(0);
        held.release();
        assertThat(closed).hasValue(1);
    }

    @Test
    void a_work_without_a_home_that_need_not_wait_is_subscribed_at_once() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(PermitRequest.of("a"), first.mono).subscribe();
        assertThat(first.started).hasValue(1);
        pool.withPermit(PermitRequest.of("a"), second.mono).subscribe();
        assertThat(second.started).hasValue(0);
        first.complete();
        time.runDue();
        assertThat(second.started).hasValue(1);
        second.complete();
    }

    @Test
    void a_hold_without_a_bound_sets_no_timer() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        pool.withPermit(request("a").withMaxHold(PoolSettings.MAX_DURATION), work.mono)
                .subscribe();
        assertThat(time.timersLeft()).isZero();
        work.complete();
    }

    // ---- acquired handles ----

    @Test
    void a_handle_is_waited_for_and_its_permits_come_back_when_it_is_released() {
        PermitPool pool = poolOf(1);
        HeldPermits first = taken(pool, "a", 1);
        List<HeldPermits> second = new ArrayList<>();
        pool.acquire(request("b")).subscribe(second::add);
        assertThat(second).isEmpty();
        first.release();
        assertThat(second).singleElement().satisfies(held -> {
            assertThat(held.isHeld()).isTrue();
            assertThat(held.tenant()).isEqualTo(TenantId.of("b"));
        });
        assertThat(inFlight(pool)).isOne();
        second.get(0).release();
        second.get(0).release();
        assertThat(second.get(0).isHeld()).isFalse();
        assertThat(inFlight(pool)).isZero();
        assertThat(listener.released).hasValue(2);
    }

    @Test
    void who_does_not_wait_for_its_handle_any_more_leaves_the_queue() {
        PermitPool pool = poolOf(1);
        HeldPermits first = taken(pool, "a", 1);
        Disposable waiting = pool.acquire(request("b")).subscribe();
        assertThat(waiting(pool)).isOne();
        waiting.dispose();
        assertThat(waiting(pool)).isZero();
        first.release();
        assertThat(listener.granted).hasValue(1);
    }

    @Test
    void a_handle_that_does_not_come_in_time_is_refused() {
        PermitPool pool = poolOf(1);
        HeldPermits first = taken(pool, "a", 1);
        StepVerifier.create(pool.acquire(request("b").withMaxWait(Duration.ofMillis(10))))
                .then(() -> time.advanceBy(Duration.ofMillis(10)))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.MAX_WAIT))
                .verify();
        first.release();
    }

    @Test
    void a_handle_that_is_never_released_is_taken_back_after_the_maximum_hold() {
        PermitPool pool = poolOf(1);
        List<HeldPermits> handles = new ArrayList<>();
        pool.acquire(request("a").withMaxHold(Duration.ofSeconds(5))).subscribe(handles::add);
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(handles.get(0).isHeld()).isFalse();
        assertThat(inFlight(pool)).isZero();
        handles.get(0).release();
        assertThat(listener.released).hasValue(1);
    }

    @Test
    void cancelling_what_has_handed_its_handle_over_takes_nothing_back() {
        PermitPool pool = poolOf(1);
        List<HeldPermits> handles = new ArrayList<>();
        Disposable subscription = pool.acquire(request("a")).subscribe(handles::add);
        subscription.dispose();
        assertThat(handles.get(0).isHeld()).isTrue();
        assertThat(inFlight(pool)).isOne();
        handles.get(0).release();
    }

    // ---- restored permits, and the state of the pool ----

    @Test
    void what_is_restored_is_held_though_there_may_be_none_left_and_others_wait_until_enough_have_come_back() {
        PermitPool pool = poolOf(2);
        HeldPermits first = taken(pool, "a", 2);
        List<HeldPermits> waiting = new ArrayList<>();
        pool.acquire(request("b")).subscribe(waiting::add);
        List<HeldPermits> restored = new ArrayList<>();
        pool.restore(request("c").withPermits(2)).subscribe(restored::add);
        assertThat(restored).singleElement().satisfies(held -> {
            assertThat(held.isHeld()).isTrue();
            assertThat(held.permits()).isEqualTo(2);
        });
        assertThat(inFlight(pool)).isEqualTo(4);
        first.release();
        assertThat(inFlight(pool)).isEqualTo(2);
        assertThat(waiting).isEmpty();
        restored.get(0).release();
        restored.get(0).release();
        assertThat(waiting).hasSize(1);
        waiting.get(0).release();
        assertThat(listener.granted).hasValue(3);
        assertThat(listener.released).hasValue(3);
    }

    @Test
    void what_is_restored_counts_against_the_cap_of_its_tenant() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                new TenantShares(
                        Map.of(TenantId.of("a"), ShareSettings.EQUAL.withMaxInFlight(1)), ShareSettings.EQUAL));
        List<HeldPermits> restored = new ArrayList<>();
        pool.restore(request("a")).subscribe(restored::add);
        assertThat(inFlight(pool)).isOne();
        assertThat(pool.tryAcquire(request("a"))).isNull();
        HeldPermits other = taken(pool, "b", 1);
        List<HeldPermits> waiting = new ArrayList<>();
        pool.acquire(request("a")).subscribe(waiting::add);
        assertThat(waiting).isEmpty();
        restored.get(0).release();
        assertThat(waiting).hasSize(1);
        waiting.get(0).release();
        other.release();
    }

    @Test
    void a_tenant_restores_no_more_than_it_could_ever_have_beside_what_it_has() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(4),
                new TenantShares(
                        Map.of(TenantId.of("a"), ShareSettings.EQUAL.withMaxInFlight(3)), ShareSettings.EQUAL));
        HeldPermits others = taken(pool, "b", 4);
        assertTooLarge(pool, request("a").withPermits(4));
        List<HeldPermits> restored = new ArrayList<>();
        pool.restore(request("a").withPermits(2)).subscribe(restored::add);
        assertTooLarge(pool, request("a").withPermits(2));
        pool.restore(request("a")).subscribe(restored::add);
        assertThat(restored).hasSize(2);
        assertThat(inFlight(pool)).isEqualTo(7);
        others.release();
        restored.forEach(HeldPermits::release);
    }

    @Test
    void all_tenants_together_restore_no_more_than_the_pool_has_though_some_was_given_back_meanwhile() {
        PermitPool pool = poolOf(3);
        List<HeldPermits> restored = new ArrayList<>();
        pool.restore(request("a").withPermits(2)).subscribe(restored::add);
        assertTooLarge(pool, request("b").withPermits(2));
        restored.get(0).release();
        assertTooLarge(pool, request("b").withPermits(2));
        pool.restore(request("b")).subscribe(restored::add);
        assertThat(inFlight(pool)).isOne();
        assertTooLarge(pool, request("c"));
        restored.get(1).release();
    }

    @Test
    void what_was_granted_counts_against_what_can_be_restored_also_when_nobody_ever_had_to_wait() {
        PermitPool pool = poolOf(2);
        HeldPermits granted = taken(pool, "a", 1);
        assertTooLarge(pool, request("a").withPermits(2));
        granted.release();
    }

    private static void assertTooLarge(PermitPool pool, PermitRequest request) {
        StepVerifier.create(pool.restore(request))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.TOO_LARGE))
                .verify();
    }

    @Test
    void how_many_are_in_flight_is_told_without_a_whole_status() {
        PermitPool pool = poolOf(3);
        assertThat(pool.inFlight().block()).isZero();
        HeldPermits held = taken(pool, "a", 2);
        assertThat(pool.inFlight().block()).isEqualTo(2);
        held.release();
        assertThat(pool.inFlight().block()).isZero();
    }

    @Test
    void the_standing_of_one_tenant_says_what_the_whole_status_says_of_it() {
        PermitPool pool = poolOf(
                PoolSettings.ofPermits(3), TenantShares.EQUAL.withMember(TenantId.of("a"), ShareSettings.ofWeight(2)));
        HeldPermits held = taken(pool, "a", 3);
        Work work = new Work();
        pool.withPermit(request("b"), work.mono).subscribe();
        time.runDue();
        for (TenantStatus each : NothingLeft.statusOf(pool).tenants()) {
            assertThat(pool.standing(each.tenant()).block())
                    .isEqualTo(new TenantStanding(
                            new PoolTotals(3, 3, 1), each.inFlight(), each.waiting(), each.share(), each.weight()));
        }
        assertThat(NothingLeft.statusOf(pool).tenants()).hasSize(2);
        held.release();
        time.runDue();
        work.complete();
    }

    @Test
    void a_tenant_that_is_idle_has_a_weight_and_nothing_else_and_is_not_in_the_status() {
        TenantId a = TenantId.of("a");
        PermitPool pool =
                poolOf(PoolSettings.ofPermits(3), TenantShares.EQUAL.withMember(a, ShareSettings.ofWeight(2)));
        assertThat(pool.standing(a).block()).isEqualTo(new TenantStanding(new PoolTotals(3, 0, 0), 0, 0, 0, 2));
        assertThat(NothingLeft.statusOf(pool).tenants()).isEmpty();
        taken(pool, "a", 1).release();
        assertThat(pool.standing(a).block()).isEqualTo(new TenantStanding(new PoolTotals(3, 0, 0), 0, 0, 0, 2));
        assertThat(NothingLeft.statusOf(pool).tenants()).isEmpty();
    }

    @Test
    void what_is_restored_for_somebody_who_leaves_before_it_is_handed_over_comes_back() {
        PermitPool pool = poolOf(2);
        BaseSubscriber<HeldPermits> wantsNothingYet = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}
        };
        pool.restore(request("a")).subscribe(wantsNothingYet);
        assertThat(inFlight(pool)).isOne();
        wantsNothingYet.dispose();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void nothing_is_restored_before_it_is_subscribed_nor_in_a_pool_that_closes_nor_beyond_what_can_be_counted() {
        PermitPool pool = poolOf(1);
        Mono<HeldPermits> lazy = pool.restore(request("a"));
        assertThat(inFlight(pool)).isZero();
        List<HeldPermits> held = new ArrayList<>();
        lazy.subscribe(held::add);
        assertThat(inFlight(pool)).isOne();
        assertTooLarge(pool, request("a").withPermits(PoolSettings.MAX_PERMITS));
        pool.close(Duration.ZERO).subscribe();
        StepVerifier.create(pool.restore(request("a")))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.DRAINING))
                .verify();
        held.get(0).release();
    }

    private static HeldPermits taken(PermitPool pool, String tenant, int permits) {
        return Objects.requireNonNull(pool.tryAcquire(request(tenant).withPermits(permits)), "no permits");
    }

    // ---- closing ----

    @Test
    void case_32_a_closing_pool_refuses_new_requests_serves_waiting_ones_and_completes_when_all_are_done() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("a"), second.mono).subscribe();
        AtomicInteger closed = new AtomicInteger();
        pool.close(Duration.ofSeconds(1)).subscribe(v -> {}, e -> {}, closed::incrementAndGet);
        StepVerifier.create(pool.withPermit(request("a"), new Work().mono))
                .expectErrorSatisfies(e -> assertReason(e, RefusalReason.DRAINING))
                .verify();
        first.complete();
        assertThat(second.started).hasValue(1);
        assertThat(closed).hasValue(0);
        second.complete();
        assertThat(closed).hasValue(1);
    }

    @Test
    void a_closing_pool_refuses_who_still_waits_when_its_patience_is_over() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        List<Throwable> errors = new ArrayList<>();
        pool.withPermit(request("a"), first.mono).subscribe();
        pool.withPermit(request("a"), new Work().mono).subscribe(v -> {}, errors::add);
        pool.close(Duration.ofSeconds(1)).subscribe();
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(errors).singleElement().satisfies(e -> assertReason(e, RefusalReason.DRAINING));
        first.complete();
    }

    private static void assertReason(Throwable error, RefusalReason reason) {
        assertThat(error)
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(reason));
    }

    private static void withDroppedErrors(Runnable signal) {
        Hooks.onErrorDropped(e -> {});
        try {
            signal.run();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    /** Lets the test send signals that a correct publisher would not send. */
    private static final class Misbehaving extends Mono<Integer> {
        private @Nullable CoreSubscriber<? super Integer> actual;

        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            this.actual = actual;
            actual.onSubscribe(Operators.emptySubscription());
        }

        CoreSubscriber<? super Integer> actual() {
            return Objects.requireNonNull(actual);
        }
    }

    /** Like {@link Misbehaving}, as a {@link Flux}. */
    private static final class MisbehavingStream extends Flux<Integer> {
        private @Nullable CoreSubscriber<? super Integer> actual;

        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            this.actual = actual;
            actual.onSubscribe(Operators.emptySubscription());
        }

        CoreSubscriber<? super Integer> actual() {
            return Objects.requireNonNull(actual);
        }
    }

    /** Records every signal, also signals that must not come. */
    private static final class Recording implements CoreSubscriber<Integer> {
        private final List<String> signals;
        private @Nullable Subscription subscription;

        Recording(List<String> signals) {
            this.signals = signals;
        }

        void cancel() {
            Objects.requireNonNull(subscription).cancel();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            this.subscription = subscription;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Integer element) {
            signals.add("element " + element);
        }

        @Override
        public void onError(Throwable error) {
            signals.add("error " + error);
        }

        @Override
        public void onComplete() {
            signals.add("complete");
        }
    }

    /** Emits its element, and does not complete. */
    private static final class EmitsAndGoesOn extends Mono<Integer> {
        private final Integer element;

        EmitsAndGoesOn(Integer element) {
            this.element = element;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            actual.onSubscribe(Operators.emptySubscription());
            actual.onNext(element);
        }
    }

    /** Calls {@code onSubscribe} only when the test says so. */
    private static final class LateSubscription extends Mono<Integer> {
        private final AtomicInteger cancelled;
        private @Nullable CoreSubscriber<? super Integer> actual;

        LateSubscription(AtomicInteger cancelled) {
            this.cancelled = cancelled;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            this.actual = actual;
        }

        void giveSubscription() {
            Objects.requireNonNull(actual).onSubscribe(new Subscription() {
                @Override
                public void request(long n) {}

                @Override
                public void cancel() {
                    cancelled.incrementAndGet();
                }
            });
        }
    }
}
