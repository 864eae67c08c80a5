package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** One topic of the contract of permit pools: the clock, the listener and the steps that its tests have in common. */
abstract class PoolTopic {

    /** A time so short that a pool that does not answer at once is in the middle of its answer after a few of them. */
    static final Duration STEP = Duration.ofNanos(500);

    static final int STEPS = 20;

    final TestTime time = new TestTime();
    final Heard heard = new Heard();
    private final PoolBackend backend;

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft(this::answer);

    PoolTopic(PoolBackend backend) {
        this.backend = backend;
    }

    final PermitPool poolOf(int permits) {
        return poolOf(PoolSettings.ofPermits(permits));
    }

    final PermitPool poolOf(PoolSettings settings) {
        return poolOf(settings, TenantShares.EQUAL);
    }

    final PermitPool poolOf(PoolSettings settings, TenantShares shares) {
        nothingLeft.watch(time);
        return nothingLeft.watch(backend.newPool(settings, shares, time, heard));
    }

    static TenantShares with(String tenant, ShareSettings share) {
        return new TenantShares(Map.of(TenantId.of(tenant), share), ShareSettings.EQUAL);
    }

    static PermitRequest request(String tenant) {
        return PermitRequest.of(tenant).withEventLoop(Runnable::run);
    }

    // ---- steps: each returns when the pool has answered ----

    /** Lets the pool answer. */
    final void answer() {
        backend.answer(time);
    }

    /** Lets the pool answer until {@code isDone}, where one answer leads to the next many times. */
    final void answerUntil(BooleanSupplier isDone) {
        for (int i = 0; i < 100_000 && !isDone.getAsBoolean(); i++) {
            answer();
        }
    }

    final void pass(Duration duration) {
        time.advanceBy(duration);
        answer();
    }

    final <T> TestSubscriber<T> subscribe(Publisher<T> asked) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        asked.subscribe(subscriber);
        answer();
        return subscriber;
    }

    final TestSubscriber<Void> run(PermitPool pool, PermitRequest request, Work work) {
        return subscribe(pool.withPermit(request, work.mono));
    }

    final TestSubscriber<Void> run(PermitPool pool, String tenant, Work work) {
        return run(pool, request(tenant), work);
    }

    final void cancel(TestSubscriber<?> subscriber) {
        subscriber.cancel();
        answer();
    }

    final void complete(Work... works) {
        for (Work work : works) {
            work.complete();
            answer();
        }
    }

    final <T> T answerOf(Mono<T> call) {
        CompletableFuture<T> answered = call.toFuture();
        answer();
        assertThat(answered).as("the answer").isDone();
        return answered.join();
    }

    /** Takes permits that are free, and holds them without a bound. */
    final HeldPermits hold(PermitPool pool, String tenant, int permits) {
        PermitRequest request = request(tenant).withPermits(permits).withMaxHold(PoolSettings.MAX_DURATION);
        return granted(subscribe(pool.acquire(request)));
    }

    static HeldPermits granted(TestSubscriber<HeldPermits> subscriber) {
        assertThat(subscriber.getReceivedOnNext()).as("granted").hasSize(1);
        return subscriber.getReceivedOnNext().get(0);
    }

    final void release(HeldPermits... handles) {
        for (HeldPermits held : handles) {
            held.release();
            answer();
        }
    }

    // ---- what holds then ----

    final PoolStatus status(PermitPool pool) {
        PoolStatus status = answerOf(pool.snapshot());
        assertThat(status.accounted()).as("accounted for").isEqualTo(status.permits());
        return status;
    }

    final int inFlight(PermitPool pool) {
        return status(pool).inFlight();
    }

    final int waiting(PermitPool pool) {
        return status(pool).waiting();
    }

    static void assertRefused(TestSubscriber<?> subscriber, RefusalReason reason) {
        assertThat(subscriber.expectTerminalError())
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(reason));
    }

    final void assertAbout(Duration actual, Duration expected) {
        assertThat(actual).isBetween(expected, expected.plus(backend.soon()));
    }
}
