package io.fairgate.client;

import static io.fairgate.client.Scene.s;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.Scene.Signals;
import io.fairgate.testkit.ForwardingScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A lease is released after its work has ended, also when the work is cancelled while it is being subscribed. */
class WithLeaseCancellationTest {

    private static final LeaseOptions OPTIONS = LeaseOptions.of("a");

    private final Scene scene = new Scene();
    private final Network network = scene.network;
    private final Scheduler workers = Schedulers.newSingle("worker");

    private final PausedTime paused = new PausedTime(scene.time);

    /** Timers are virtual and run where the test advances time; works are subscribed on a thread of their own. */
    private final LeaseClient client = new LeaseClient(
            network,
            new ForwardingScheduler(paused) {
                @Override
                public Disposable schedule(Runnable task) {
                    return workers.schedule(task);
                }
            },
            () -> 0.4);

    @AfterEach
    void stop() {
        workers.dispose();
    }

    /** {@code withLease} and {@code withLeaseMany}, which have to do the same. */
    private enum Kind {
        MONO {
            @Override
            <T> Publisher<T> of(LeaseClient client, Function<Lease, Publisher<T>> work) {
                return client.withLease(OPTIONS, lease -> Mono.fromDirect(work.apply(lease)));
            }
        },
        FLUX {
            @Override
            <T> Publisher<T> of(LeaseClient client, Function<Lease, Publisher<T>> work) {
                return client.withLeaseMany(OPTIONS, work);
            }
        };

        abstract <T> Publisher<T> of(LeaseClient client, Function<Lease, Publisher<T>> work);
    }

    /** Where the work stands still while it is being subscribed. */
    private enum Stop {
        WHILE_IT_IS_MADE,
        BEFORE_ITS_SUBSCRIPTION,
        AFTER_ITS_SUBSCRIPTION
    }

    static Stream<Arguments> kindsAndStops() {
        return Stream.of(Kind.values()).flatMap(kind -> Stream.of(Stop.values()).map(stop -> Arguments.of(kind, stop)));
    }

    /** Stands still while it is being subscribed, until it is told to go on; never ends by itself. */
    private static final class StoppingWork implements Publisher<String>, Subscription {
        final Stop stop;
        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final CountDownLatch cancelled = new CountDownLatch(1);

        StoppingWork(Stop stop) {
            this.stop = stop;
        }

        Publisher<String> make() {
            standStill(Stop.WHILE_IT_IS_MADE);
            return this;
        }

        @Override
        public void subscribe(Subscriber<? super String> subscriber) {
            standStill(Stop.BEFORE_ITS_SUBSCRIPTION);
            subscriber.onSubscribe(this);
            standStill(Stop.AFTER_ITS_SUBSCRIPTION);
        }

        private void standStill(Stop here) {
            if (here == stop) {
                reached.countDown();
                await(goOn);
            }
        }

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            cancelled.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until the worker has done what it was doing. */
    private void awaitWorker() {
        CountDownLatch done = new CountDownLatch(1);
        workers.schedule(done::countDown);
        await(done);
    }

    private int released() {
        return network.sentAt("DELETE").size();
    }

    @ParameterizedTest
    @MethodSource("kindsAndStops")
    void a_lease_is_released_when_its_cancelled_work_has_been_subscribed(Kind kind, Stop stop) {
        StoppingWork work = new StoppingWork(stop);
        Signals<String> signals = scene.subscribe(kind.of(client, lease -> work.make()));
        await(work.reached);
        signals.cancel();

        assertThat(released()).isZero();
        assertThat(work.cancelled.getCount()).isEqualTo(stop == Stop.AFTER_ITS_SUBSCRIPTION ? 0 : 1);
        scene.passSeconds(60);
        assertThat(scene.server.held()).as("extended meanwhile").isOne();

        work.goOn.countDown();
        awaitWorker();
        await(work.cancelled);
        assertThat(released()).isOne();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource("kindsAndStops")
    void a_timer_that_cancels_releases_when_the_work_has_been_subscribed(Kind kind, Stop stop) {
        StoppingWork work = new StoppingWork(stop);
        Signals<String> signals =
                scene.subscribe(Flux.from(kind.of(client, lease -> work.make())).timeout(s(1), scene.time));
        await(work.reached);
        scene.passSeconds(1);

        assertThat(signals.error).isInstanceOf(TimeoutException.class);
        assertThat(released()).isZero();
        work.goOn.countDown();
        awaitWorker();
        await(work.cancelled);
        assertThat(released()).isOne();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource("kindsAndStops")
    void a_loss_while_the_work_is_subscribed_is_an_error_at_once_and_cancels_the_work(Kind kind, Stop stop) {
        network.always(call -> call.method().equals("PUT") ? network.requestLost() : network.straight());
        StoppingWork work = new StoppingWork(stop);
        Signals<String> signals = scene.subscribe(kind.of(client, lease -> work.make()));
        await(work.reached);
        scene.passSeconds(29);

        assertThat(signals.error).isInstanceOf(LeaseLostException.class);
        work.goOn.countDown();
        awaitWorker();
        await(work.cancelled);
        assertThat(released()).as("a lost lease is left to expire").isZero();
        scene.passSeconds(1);
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource("kindsAndStops")
    void a_work_that_fails_after_it_was_cancelled_is_released_all_the_same(Kind kind, Stop stop) {
        StoppingWork work = new StoppingWork(stop);
        Signals<String> signals = scene.subscribe(kind.of(client, lease -> subscriber -> {
            work.make().subscribe(subscriber);
            throw new IllegalStateException("broken");
        }));
        await(work.reached);
        signals.cancel();
        assertThat(released()).isZero();
        work.goOn.countDown();
        awaitWorker();

        assertThat(released()).isOne();
        scene.assertNothingLeft();
    }

    /** How many releases were sent when subscribing the work was about to return. */
    private static final class SelfCancelling {
        final AtomicReference<@Nullable Disposable> caller = new AtomicReference<>();
        int releasedMeanwhile = -1;
        boolean isCancelled;
    }

    @Test
    void a_work_that_cancels_its_caller_while_it_is_subscribed_is_released_after_that() {
        for (Kind kind : Kind.values()) {
            SelfCancelling self = new SelfCancelling();
            int before = released();
            Mono<String> work = new Mono<>() {
                @Override
                public void subscribe(CoreSubscriber<? super String> actual) {
                    Mono.<String>never()
                            .doOnCancel(() -> self.isCancelled = true)
                            .subscribe(actual);
                    requireNonNull(self.caller.get()).dispose();
                    self.releasedMeanwhile = released() - before;
                }
            };
            Disposable.Swap caller = Disposables.swap();
            self.caller.set(caller);
            CountDownLatch subscribed = new CountDownLatch(1);
            workers.schedule(() -> await(subscribed));
            caller.update(Flux.from(kind.of(client, lease -> work)).subscribe());
            subscribed.countDown();
            awaitWorker();
            awaitWorker();

            assertThat(self.isCancelled).isTrue();
            assertThat(self.releasedMeanwhile).isZero();
            assertThat(released() - before).isOne();
            scene.assertNothingLeft();
        }
    }

    @Test
    void a_caller_that_cancels_on_an_element_releases_after_the_work_was_subscribed() {
        List<Integer> releasedMeanwhile = new ArrayList<>();
        Flux<Integer> work = new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super Integer> actual) {
                Flux.range(1, Integer.MAX_VALUE).repeat().subscribe(actual);
                releasedMeanwhile.add(released());
            }
        };
        Signals<Integer> signals =
                scene.subscribe(client.withLeaseMany(OPTIONS, lease -> work).take(3));
        awaitWorker();

        assertThat(signals.values).containsExactly(1, 2, 3);
        assertThat(signals.isComplete).isTrue();
        assertThat(releasedMeanwhile).containsExactly(0);
        assertThat(released()).isOne();
        scene.assertNothingLeft();
    }

    @Test
    void a_caller_that_cancels_on_a_later_element_cancels_the_work_before_the_release() {
        List<Integer> releasedAtCancel = new ArrayList<>();
        Signals<Long> signals = scene.subscribe(client.withLeaseMany(
                        OPTIONS,
                        lease -> Flux.interval(s(1), scene.time).doOnCancel(() -> releasedAtCancel.add(released())))
                .take(2));
        awaitWorker();
        scene.passSeconds(2);

        assertThat(signals.values).containsExactly(0L, 1L);
        assertThat(releasedAtCancel).containsExactly(0);
        assertThat(released()).isOne();
        scene.assertNothingLeft();
    }

    @Test
    void elements_come_as_they_are_requested() {
        List<Long> requested = new ArrayList<>();
        Flux<Integer> work = Flux.range(1, 100).doOnRequest(requested::add);
        List<Integer> received = new ArrayList<>();
        BaseSubscriber<Integer> caller = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(2);
            }

            @Override
            protected void hookOnNext(Integer value) {
                received.add(value);
            }
        };
        client.withLeaseMany(OPTIONS, lease -> work).subscribe(caller);
        awaitWorker();
        assertThat(received).containsExactly(1, 2);
        caller.request(3);
        assertThat(received).containsExactly(1, 2, 3, 4, 5);
        assertThat(requested).containsExactly(2L, 3L);
        caller.cancel();
        scene.assertNothingLeft();
    }

    @Test
    void a_work_that_is_cancelled_while_the_lease_is_on_its_way_to_it_is_never_made() {
        CountDownLatch busy = new CountDownLatch(1);
        workers.schedule(() -> await(busy));
        AtomicReference<Lease> given = new AtomicReference<>();
        Signals<String> signals = scene.subscribe(client.withLease(OPTIONS, lease -> {
            given.set(lease);
            return Mono.never();
        }));
        assertThat(scene.server.held()).isOne();
        signals.cancel();
        busy.countDown();
        awaitWorker();

        assertThat(given).hasValue(null);
        scene.assertNothingLeft();
    }

    @Test
    void a_lease_whose_time_was_over_on_its_way_to_the_work_is_an_error_also_when_its_timer_is_late() {
        CountDownLatch busy = new CountDownLatch(1);
        workers.schedule(() -> await(busy));
        network.always(call -> call.method().equals("PUT") ? network.requestLost() : network.straight());
        AtomicReference<Lease> given = new AtomicReference<>();
        Signals<String> signals = scene.subscribe(client.withLease(OPTIONS, lease -> {
            given.set(lease);
            return Mono.never();
        }));
        paused.pause(Duration.ofSeconds(40));
        busy.countDown();
        awaitWorker();
        assertThat(given).hasValue(null);
        scene.pass(Duration.ofSeconds(29));

        assertThat(given).hasValue(null);
        assertThat(signals.error).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_lease_that_was_lost_on_its_way_to_the_work_is_an_error() {
        CountDownLatch busy = new CountDownLatch(1);
        workers.schedule(() -> await(busy));
        network.always(call -> call.method().equals("PUT") ? network.requestLost() : network.straight());
        AtomicReference<Lease> given = new AtomicReference<>();
        Signals<String> signals = scene.subscribe(client.withLease(OPTIONS, lease -> {
            given.set(lease);
            return Mono.never();
        }));
        scene.pass(Duration.ofSeconds(29));
        busy.countDown();
        awaitWorker();

        assertThat(given).hasValue(null);
        assertThat(signals.error).isInstanceOf(LeaseLostException.class);
    }
}
