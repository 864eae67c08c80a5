package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.spring.fairshare.PacedBody.Pace;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.test.publisher.TestPublisher;

/** Bodies in virtual time: at most ten seconds of pause, and a hundred bytes a second while others wait. */
class PacedBodyTest {

    private static final Pace PACE = new Pace(TimeUnit.SECONDS.toNanos(10), 100);

    private final TestTime time = new TestTime();
    private final PermitPool pool = pool();
    private final TestPublisher<DataBuffer> client = TestPublisher.create();
    private final AtomicBoolean answered = new AtomicBoolean();
    private final List<String> seen = new ArrayList<>();

    /** What the upstream takes: nothing until it asks. */
    private final class Upstream extends BaseSubscriber<DataBuffer> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {}

        @Override
        protected void hookOnNext(DataBuffer part) {
            seen.add(String.valueOf(part.readableByteCount()));
        }

        @Override
        protected void hookOnError(Throwable failure) {
            seen.add(failure.getClass().getSimpleName());
        }

        @Override
        protected void hookFinally(SignalType type) {
            if (type == SignalType.ON_COMPLETE) {
                seen.add("whole");
            }
        }
    }

    private final Upstream upstream = new Upstream();

    private PermitPool pool() {
        PoolSettings settings = new PoolSettings(1, 100, Duration.ofDays(1), Duration.ofDays(1));
        return new EmbeddedPermitPool("pool", settings, TenantShares.EQUAL, time, PoolListener.NONE);
    }

    private void read(Pace pace) {
        PacedBody.of(client.flux(), pace, pool, answered::get, Runnable::run, time)
                .subscribe(upstream);
        upstream.request(1_000);
    }

    private void send(int bytes) {
        client.next(DefaultDataBufferFactory.sharedInstance.wrap(new byte[bytes]));
    }

    private void pass(int seconds) {
        time.advanceBy(Duration.ofSeconds(seconds));
    }

    /** Two requests for the only permit: one has it, one waits. */
    private void othersWait() {
        for (int i = 0; i < 2; i++) {
            var unused = pool.withPermit(PermitRequest.of(TenantId.of("a")), Mono.never())
                    .subscribe();
        }
        time.runDue();
    }

    @Test
    void a_pause_in_the_limit_passes_and_a_longer_one_ends_the_body() {
        read(PACE);
        for (int i = 0; i < 5; i++) {
            pass(9);
            send(1);
        }
        pass(9);
        assertThat(seen).containsExactly("1", "1", "1", "1", "1");
        pass(1);
        assertThat(seen).last().isEqualTo("SlowBodyException");
        client.assertCancelled();
        client.complete();
        assertThat(seen).hasSize(6);
    }

    @Test
    void while_the_upstream_takes_nothing_the_client_has_no_pause() {
        PacedBody.of(client.flux(), PACE, pool, answered::get, Runnable::run, time)
                .subscribe(upstream);
        othersWait();
        pass(3605);
        assertThat(seen).isEmpty();
        upstream.request(1);
        pass(9);
        send(1);
        pass(3600);
        assertThat(seen).containsExactly("1");
        upstream.request(1);
        pass(10);
        assertThat(seen).containsExactly("1", "SlowBodyException");
    }

    @Test
    void a_slow_body_ends_when_others_wait() {
        read(PACE);
        for (int i = 0; i < 100; i++) {
            pass(1);
            send(99);
        }
        assertThat(seen).hasSize(100);
        othersWait();
        for (int i = 0; i < 11; i++) {
            pass(1);
            send(99);
        }
        assertThat(seen).last().isEqualTo("SlowBodyException");
        client.assertCancelled();
    }

    @Test
    void a_body_that_is_fast_enough_on_average_does_not_end() {
        read(PACE);
        othersWait();
        for (int i = 0; i < 20; i++) {
            pass(9);
            send(1000);
        }
        client.complete();
        assertThat(seen).hasSize(21).last().isEqualTo("whole");
    }

    /** A stream of gRPC may be silent for long. */
    @Test
    void when_the_upstream_has_begun_to_answer_no_limit_counts() {
        read(PACE);
        othersWait();
        pass(9);
        send(1);
        answered.set(true);
        pass(3600);
        send(1);
        client.complete();
        assertThat(seen).containsExactly("1", "1", "whole");
    }

    @Test
    void each_limit_can_be_off() {
        assertThat(PacedBody.of(Flux.empty(), new Pace(0, 0), pool, answered::get, Runnable::run, time))
                .isNotInstanceOf(PacedBody.class);
        read(new Pace(PACE.pauseNanos(), 0));
        othersWait();
        for (int i = 0; i < 20; i++) {
            pass(9);
            send(1);
        }
        assertThat(seen).hasSize(20).containsOnly("1");
    }

    @Test
    void without_a_limit_of_pauses_only_the_rate_counts() {
        read(new Pace(0, 100));
        pass(3600);
        assertThat(seen).isEmpty();
        othersWait();
        pass(10);
        assertThat(seen).containsExactly("SlowBodyException");
    }

    @Test
    void a_body_that_is_there_needs_no_timer_and_one_that_has_ended_leaves_none() {
        int before = time.timersLeft();
        PacedBody.of(
                        Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(new byte[3])),
                        PACE,
                        pool,
                        answered::get,
                        Runnable::run,
                        time)
                .subscribe();
        assertThat(time.timersLeft()).isEqualTo(before);
        read(PACE);
        assertThat(time.timersLeft()).isEqualTo(before + 1);
        client.complete();
        assertThat(time.timersLeft()).isEqualTo(before);
        assertThat(seen).containsExactly("whole");
    }

    @Test
    void a_cancelled_body_leaves_no_timer() {
        int before = time.timersLeft();
        read(PACE);
        upstream.cancel();
        assertThat(time.timersLeft()).isEqualTo(before);
        client.assertCancelled();
        pass(60);
        assertThat(seen).isEmpty();
    }
}
