package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.subscriber.TestSubscriber;

/** A subscriber that cancels: at every step of its request, and against each other signal. */
abstract class CancellationContract extends PoolTopic {

    CancellationContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void before_the_grant_it_frees_the_place_in_the_queue() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> waiting = run(pool, "a", second);
        assertThat(waiting(pool)).isOne();
        cancel(waiting);
        assertThat(waiting(pool)).isZero();
        complete(first);
        assertThat(second.started).hasValue(0);
        assertThat(heard.abandoned).hasValue(1);
    }

    @Test
    void together_with_the_grant_it_starts_no_work_and_loses_no_permit() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        Work third = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> waiting = run(pool, "a", second);
        run(pool, "b", third);
        first.complete();
        int started = second.started.get();
        waiting.cancel();
        answer();
        third.complete();
        answer();
        assertThat(third.started).hasValue(1);
        assertThat(second.started).hasValue(started);
        assertThat(second.cancelled).hasValue(started);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void at_whatever_step_of_a_request_it_starts_no_work_and_loses_no_permit() {
        PermitPool pool = poolOf(1);
        for (int step = 0; step < STEPS; step++) {
            Work work = new Work();
            TestSubscriber<Void> request = TestSubscriber.create();
            pool.withPermit(request("a"), work.mono).subscribe(request);
            time.advanceBy(STEP.multipliedBy(step));
            int started = work.started.get();
            cancel(request);
            assertThat(work.started).as("started after step %d", step).hasValue(started);
            assertThat(work.cancelled).as("cancelled after step %d", step).hasValue(started);
            assertThat(inFlight(pool)).as("after step %d", step).isZero();
            assertThat(waiting(pool)).as("after step %d", step).isZero();
        }
    }

    @Test
    void between_grant_and_start_it_gives_the_permit_to_the_next() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> loop = new ArrayDeque<>();
        Work granted = new Work();
        Work next = new Work();
        TestSubscriber<Void> first = run(pool, PermitRequest.of("a").withEventLoop(loop::add), granted);
        run(pool, "b", next);
        assertThat(inFlight(pool)).isOne();
        cancel(first);
        assertThat(next.started).hasValue(1);
        loop.forEach(Runnable::run);
        answer();
        assertThat(granted.started).hasValue(0);
        assertThat(inFlight(pool)).isOne();
        complete(next);
    }

    @Test
    void between_a_late_grant_and_its_start_it_gives_the_permit_to_the_next() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> slowHome = new ArrayDeque<>();
        Work first = new Work();
        Work third = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> second = run(pool, PermitRequest.of("b").withEventLoop(slowHome::add), new Work());
        run(pool, "c", third);
        complete(first);
        assertThat(third.started).hasValue(0);
        cancel(second);
        assertThat(third.started).hasValue(1);
        complete(third);
    }

    @Test
    void while_the_work_starts_it_cancels_the_work_and_releases_once() {
        PermitPool pool = poolOf(1);
        AtomicInteger cancelled = new AtomicInteger();
        Disposable[] self = new Disposable[1];
        Queue<Runnable> loop = new ArrayDeque<>();
        Mono<Void> work = Mono.defer(() -> {
            self[0].dispose();
            return Mono.<Void>never().doOnCancel(cancelled::incrementAndGet);
        });
        self[0] = pool.withPermit(PermitRequest.of("a").withEventLoop(loop::add), work)
                .subscribe();
        answer();
        loop.forEach(Runnable::run);
        answer();
        assertThat(cancelled).hasValue(1);
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void while_the_work_starts_it_keeps_the_permit_until_the_start_is_over() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> loop = new ArrayDeque<>();
        Disposable.Swap subscription = Disposables.swap();
        List<Integer> inFlight = new ArrayList<>();
        Mono<Void> cancelledOnTheWay = Mono.<Void>never().doOnSubscribe(s -> {
            subscription.dispose();
            inFlight.add(inFlight(pool));
        });
        subscription.update(pool.withPermit(PermitRequest.of("a").withEventLoop(loop::add), cancelledOnTheWay)
                .subscribe());
        answer();
        loop.remove().run();
        assertThat(inFlight).containsExactly(1);
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void after_the_end_it_changes_nothing() {
        PermitPool pool = poolOf(1);
        TestSubscriber<Integer> done = subscribe(pool.withPermit(request("a"), Mono.just(1)));
        cancel(done);
        assertThat(heard.released).hasValue(1);
        assertThat(heard.abandoned).hasValue(0);
    }

    @Test
    void after_the_maximum_wait_it_changes_nothing() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> second = run(pool, "b", new Work());
        pass(Duration.ofSeconds(1));
        cancel(second);
        assertRefused(second, RefusalReason.MAX_WAIT);
        assertThat(heard.refused).containsExactly(RefusalReason.MAX_WAIT);
        assertThat(heard.abandoned).hasValue(0);
        complete(first);
    }

    @Test
    void the_maximum_wait_of_a_granted_request_changes_nothing() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)));
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        run(pool, "b", second);
        pass(Duration.ofMillis(900));
        complete(first);
        pass(Duration.ofSeconds(10));
        assertThat(second.cancelled).hasValue(0);
        assertThat(inFlight(pool)).isOne();
        complete(second);
    }

    @Test
    void while_it_is_being_subscribed_a_stream_emits_no_more() {
        PermitPool pool = poolOf(1);
        AtomicInteger emitted = new AtomicInteger();
        pool.withPermit(request("a"), Flux.range(0, 1_000).doOnNext(i -> emitted.incrementAndGet()))
                .subscribe(new BaseSubscriber<>() {
                    @Override
                    protected void hookOnNext(Integer value) {
                        cancel();
                    }
                });
        answer();
        assertThat(emitted).hasValue(1);
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void before_anything_was_requested_it_never_takes_a_permit() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        pool.withPermit(request("a"), work.mono).subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.cancel();
            }
        });
        answer();
        assertThat(work.started).hasValue(0);
        assertThat(heard.granted).hasValue(0);
    }

    @Test
    void before_the_work_gave_its_subscription_it_cancels_that_when_it_comes() {
        PermitPool pool = poolOf(1);
        AtomicInteger cancelled = new AtomicInteger();
        List<CoreSubscriber<?>> subscribers = new ArrayList<>();
        Mono<Integer> work = new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                subscribers.add(actual);
            }
        };
        TestSubscriber<Integer> running = subscribe(pool.withPermit(request("a"), work));
        cancel(running);
        assertThat(inFlight(pool)).isZero();
        subscribers.get(0).onSubscribe(new Operators.DeferredSubscription() {
            @Override
            public void cancel() {
                cancelled.incrementAndGet();
            }
        });
        assertThat(cancelled).hasValue(1);
    }
}
