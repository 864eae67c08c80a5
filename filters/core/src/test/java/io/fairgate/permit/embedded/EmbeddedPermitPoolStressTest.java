package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The embedded pool with real threads: no race loses a permit or grants it twice. */
class EmbeddedPermitPoolStressTest {

    private static final int PERMITS = 3;
    private static final int THREADS = 4;
    private static final int REQUESTS = 20_000;
    private static final int CHANGES = 5_000;
    private static final int LOOKS = 50;

    private final EmbeddedPermitPool pool = new EmbeddedPermitPool(
            "stress",
            new PoolSettings(PERMITS, 500, Duration.ofMillis(500), Duration.ofSeconds(60)),
            TenantShares.EQUAL);
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger mostRunning = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(THREADS * REQUESTS);

    @Test
    void random_ends_timeouts_and_cancellations_lose_and_gain_no_permit() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int seed = t;
            Thread thread = new Thread(() -> sendAll(new SplittableRandom(seed)));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(ended.await(60, TimeUnit.SECONDS))
                .as("every request has ended")
                .isTrue();
        assertThat(mostRunning).hasValueBetween(1, PERMITS);
        CountDownLatch closed = new CountDownLatch(1);
        pool.close(Duration.ZERO).subscribe(v -> {}, e -> {}, closed::countDown);
        assertThat(closed.await(60, TimeUnit.SECONDS)).as("nothing is left").isTrue();
        assertThat(running).hasValue(0);
    }

    /** Only one thread changes the slice, so it knows a bound of what is in use between two changes. */
    @Test
    void a_slice_that_changes_all_the_time_is_never_exceeded() throws Exception {
        PoolSlice slice = pool.share(() -> {});
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            SplittableRandom random = new SplittableRandom(t);
            Thread thread = new Thread(() -> {
                while (!isOver.get()) {
                    pool.withPermit(request(random), work(random))
                            .onErrorComplete(PermitRefusedException.class)
                            .block();
                }
            });
            thread.setDaemon(true); // An assertion that fails must not leave it at work.
            thread.start();
            threads.add(thread);
        }
        SplittableRandom random = new SplittableRandom(7);
        int shrinks = 0;
        for (int i = 0; i < CHANGES; i++) {
            int most = random.nextInt(PERMITS + 1);
            int inFlight = Objects.requireNonNull(slice.limit(most, 0).block());
            shrinks += inFlight > most ? 1 : 0;
            for (int looks = 0; looks < LOOKS; looks++) {
                assertThat(running.get()).as("running").isLessThanOrEqualTo(Math.max(most, inFlight));
                Thread.onSpinWait();
            }
        }
        slice.limit(PERMITS, 0).block();
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(shrinks).as("times that more was in flight than the slice").isGreaterThan(CHANGES / 50);
        assertThat(running).hasValue(0);
    }

    private static PermitRequest request(SplittableRandom random) {
        return PermitRequest.of(new TenantId("t" + random.nextInt(5)));
    }

    private Mono<Long> work(SplittableRandom random) {
        boolean immediate = random.nextInt(4) == 0;
        return Mono.using(
                () -> mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max),
                most -> immediate ? Mono.just(1L) : Mono.delay(Duration.ofNanos(50_000)),
                most -> running.decrementAndGet());
    }

    private void sendAll(SplittableRandom random) {
        for (int i = 0; i < REQUESTS; i++) {
            Mono<Long> work = work(random);
            PermitRequest request = request(random);
            Disposable sent = pool.withPermit(
                            random.nextBoolean() ? request : request.withEventLoop(Schedulers.parallel()::schedule),
                            work)
                    .doFinally(s -> ended.countDown())
                    .subscribe(v -> {}, e -> {});
            int fate = random.nextInt(10);
            if (fate < 3) {
                sent.dispose();
            } else if (fate < 6) {
                var unused = Schedulers.parallel().schedule(sent::dispose, random.nextInt(200), TimeUnit.MICROSECONDS);
            }
        }
    }
}
