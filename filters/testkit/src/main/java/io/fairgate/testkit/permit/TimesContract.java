package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.subscriber.TestSubscriber;

/** Waits and holds end at their time. */
abstract class TimesContract extends PoolTopic {

    TimesContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void a_work_that_holds_for_too_long_is_cancelled_and_its_permit_comes_back() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxHold(Duration.ofSeconds(5)));
        Work endless = new Work();
        TestSubscriber<Void> cut = run(pool, "a", endless);
        pass(Duration.ofSeconds(5));
        assertThat(cut.expectTerminalError()).isInstanceOf(HoldExpiredException.class);
        assertThat(endless.cancelled).hasValue(1);
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void a_stream_that_holds_for_too_long_ends_with_an_error() {
        PermitPool pool = poolOf(1);
        PermitRequest second = request("a").withMaxHold(Duration.ofSeconds(1));
        TestSubscriber<Integer> cut = subscribe(pool.withPermit(second, Flux.concat(Flux.just(1), Flux.never())));
        assertThat(cut.getReceivedOnNext()).containsExactly(1);
        pass(Duration.ofSeconds(1));
        assertThat(cut.expectTerminalError()).isInstanceOf(HoldExpiredException.class);
    }

    @Test
    void every_wait_ends_at_its_time() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(100)));
        Duration begun = Duration.ofNanos(time.now(TimeUnit.NANOSECONDS));
        Work first = new Work();
        run(pool, request("a").withMaxHold(Duration.ofHours(10)), first);
        List<Integer> minutes =
                new ArrayList<>(IntStream.rangeClosed(1, 100).boxed().toList());
        Collections.shuffle(minutes, new Random(1));
        Map<Integer, TestSubscriber<Void>> waiting = new TreeMap<>();
        for (int i : minutes) {
            PermitRequest request = request("t" + i % 7).withMaxWait(Duration.ofMinutes(i));
            TestSubscriber<Void> subscriber = run(pool, request, new Work());
            waiting.put(i, subscriber);
            if (i % 3 == 0) {
                cancel(subscriber);
            }
        }
        Duration drift = Duration.ofNanos(time.now(TimeUnit.NANOSECONDS)).minus(begun);
        assertThat(drift).isLessThan(Duration.ofSeconds(30));
        time.advanceBy(Duration.ofSeconds(30).minus(drift));
        waiting.forEach((i, subscriber) -> {
            assertThat(subscriber.isTerminated()).as("before %d min", i).isFalse();
            time.advanceBy(Duration.ofMinutes(1));
            assertThat(subscriber.isTerminated()).as("after %d min", i).isEqualTo(i % 3 != 0);
        });
        complete(first);
    }

    @Test
    void every_hold_ends_at_its_time_whether_the_request_waited_or_not() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(20).withMaxWait(Duration.ofSeconds(100)));
        Map<Integer, Duration> lasted = new TreeMap<>();
        // In an order in which an earlier end comes after a later one; the last request has to wait.
        for (int seconds : new int[] {9, 5, 7, 3, 8, 6, 4}) {
            runFor(pool, "a", seconds, lasted);
            time.advanceBy(Duration.ofMillis(100));
        }
        HeldPermits rest = hold(pool, "b", 13);
        runFor(pool, "c", 2, lasted);
        pass(Duration.ofSeconds(1));
        long released = time.now(TimeUnit.NANOSECONDS);
        release(rest);
        time.advanceBy(Duration.ofSeconds(20));
        assertThat(lasted).hasSize(8);
        lasted.forEach((seconds, end) -> {
            if (seconds == 2) {
                assertAbout(end.minusNanos(released), Duration.ofSeconds(2));
            } else {
                assertAbout(end, Duration.ofSeconds(seconds));
            }
        });
    }

    /** Runs a work that ends by its maximum hold; notes how long that took, or when it ended if it had to wait. */
    private void runFor(PermitPool pool, String tenant, int seconds, Map<Integer, Duration> lasted) {
        PermitRequest request = request(tenant).withMaxHold(Duration.ofSeconds(seconds));
        long start = tenant.equals("c") ? 0 : time.now(TimeUnit.NANOSECONDS);
        pool.withPermit(request, new Work().mono)
                .subscribe(v -> {}, e -> lasted.put(seconds, Duration.ofNanos(time.now(TimeUnit.NANOSECONDS) - start)));
        answer();
    }

    @Test
    void the_listener_is_told_how_long_a_request_waited_and_how_long_it_held() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofMinutes(1)));
        Work first = new Work();
        Work second = new Work();
        pass(Duration.ofSeconds(5));
        run(pool, "a", first);
        run(pool, "a", second);
        time.advanceBy(Duration.ofSeconds(3));
        complete(first);
        time.advanceBy(Duration.ofSeconds(4));
        complete(second);
        assertThat(heard.waits)
                .satisfiesExactly(
                        one -> assertAbout(one, Duration.ZERO), two -> assertAbout(two, Duration.ofSeconds(3)));
        assertThat(heard.holds)
                .satisfiesExactly(
                        one -> assertAbout(one, Duration.ofSeconds(3)), two -> assertAbout(two, Duration.ofSeconds(4)));
    }
}
