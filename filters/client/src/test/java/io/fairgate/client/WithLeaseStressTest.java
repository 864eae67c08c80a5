package io.fairgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Works that are cancelled at any moment of their subscribing, on real threads; a server that looks when the release comes. */
class WithLeaseStressTest {

    /** So many rounds have to have cancelled a work that was just being subscribed. */
    private static final int ENOUGH = 1_000;

    /** One lease and its work. */
    private static final class Round implements Transport {
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        final AtomicInteger active = new AtomicInteger();
        final AtomicInteger releases = new AtomicInteger();
        volatile boolean isSubscribing;
        volatile int activeAtRelease;

        @Override
        public Mono<ApiResponse> send(ApiRequest call) {
            return Mono.fromSupplier(() -> {
                if (call.method().equals("POST")) {
                    asked.countDown();
                    return answer(
                            201,
                            "{\"id\":\"%032x\",\"state\":\"held\",\"token\":1,\"expiresInMillis\":30000}".formatted(1));
                }
                activeAtRelease = Math.max(activeAtRelease, active.get());
                releases.incrementAndGet();
                released.countDown();
                return answer(204, "");
            });
        }

        private static ApiResponse answer(int status, String body) {
            return ApiResponse.of(status, null, body.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void close() {}
    }

    /** It is at work from before it gives its subscription until it was cancelled and its subscribing has returned. */
    private static final class Work extends Flux<Integer> implements Subscription {
        private final Round round;

        Work(Round round) {
            this.round = round;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            round.isSubscribing = true;
            round.active.addAndGet(2);
            spin(ThreadLocalRandom.current());
            actual.onSubscribe(this);
            spin(ThreadLocalRandom.current());
            round.isSubscribing = false;
            round.active.decrementAndGet();
        }

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            spin(ThreadLocalRandom.current());
            round.active.decrementAndGet();
        }
    }

    private static void spin(Random chance) {
        for (int i = chance.nextInt(2000); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(120)
    void no_release_is_sent_before_the_work_was_cancelled_and_its_subscribing_has_returned() throws Exception {
        Random chance = new Random(42);
        int whileSubscribing = 0;
        for (int i = 0; whileSubscribing < ENOUGH; i++) {
            Round round = new Round();
            LeaseClient client = new LeaseClient(round, MonotonicTime.INSTANCE, chance::nextDouble);
            LeaseOptions options = LeaseOptions.of("a");
            Disposable caller = i % 2 == 0
                    ? client.withLeaseMany(options, lease -> new Work(round)).subscribe()
                    : client.withLease(options, lease -> new Work(round).next()).subscribe();
            assertThat(round.asked.await(30, TimeUnit.SECONDS)).isTrue();
            spin(chance);
            spin(chance);
            boolean wasSubscribing = round.isSubscribing;
            caller.dispose();
            whileSubscribing += wasSubscribing ? 1 : 0;

            assertThat(round.released.await(30, TimeUnit.SECONDS))
                    .as("released in round %d", i)
                    .isTrue();
            assertThat(round.activeAtRelease).as("at work in round %d", i).isZero();
            assertThat(round.releases).hasValue(1);
        }
    }
}
