package io.fairgate.spring.pace;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SignalType;
import reactor.test.publisher.TestPublisher;

/** Bodies in virtual time: at most ten seconds of pause, and a hundred bytes a second while the pool is full. */
class PacedBodyTest {

    private static final Pace PACE = new Pace(TimeUnit.SECONDS.toNanos(10), 100);

    private final EmbeddedChannel connection = new EmbeddedChannel();
    private final OnePermit permit = new OnePermit();
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

    private Flux<DataBuffer> body(Flux<DataBuffer> source, Pace pace) {
        return new PacedBody(source, pace, permit.pool(), () -> !answered.get(), connection.eventLoop());
    }

    private void read(Pace pace) {
        body(client.flux(), pace).subscribe(upstream);
        upstream.request(1_000);
    }

    private static DataBuffer part(int bytes) {
        return DefaultDataBufferFactory.sharedInstance.wrap(new byte[bytes]);
    }

    private void send(int bytes) {
        client.next(part(bytes));
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i++) {
            connection.advanceTimeBy(1, TimeUnit.SECONDS);
            connection.runPendingTasks();
        }
    }

    @BeforeEach
    void freeze() {
        connection.freezeTime();
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
        body(client.flux(), PACE).subscribe(upstream);
        permit.use();
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
    void a_slow_body_ends_when_the_pool_is_full() {
        read(PACE);
        for (int i = 0; i < 100; i++) {
            pass(1);
            send(99);
        }
        assertThat(seen).hasSize(100);
        permit.use();
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
        permit.use();
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
        permit.use();
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
        assertThat(new Pace(0, 0).hasNoLimit()).isTrue();
        assertThat(new Pace(1, 0).hasNoLimit()).isFalse();
        assertThat(new Pace(0, 1).hasNoLimit()).isFalse();
        read(new Pace(PACE.pauseNanos(), 0));
        permit.use();
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
        permit.use();
        pass(11);
        assertThat(seen).containsExactly("SlowBodyException");
    }

    @Test
    void a_body_that_is_there_needs_no_timer_and_one_that_has_ended_leaves_none() {
        body(Flux.just(part(3)), PACE).subscribe();
        body(Flux.empty(), PACE).subscribe();
        assertThat(connection.runScheduledPendingTasks()).isNegative();
        read(PACE);
        assertThat(connection.runScheduledPendingTasks()).isPositive();
        client.complete();
        assertThat(connection.runScheduledPendingTasks()).isNegative();
        assertThat(seen).containsExactly("whole");
    }

    @Test
    void a_cancelled_body_leaves_no_timer() {
        read(PACE);
        upstream.cancel();
        assertThat(connection.runScheduledPendingTasks()).isNegative();
        client.assertCancelled();
        pass(60);
        assertThat(seen).isEmpty();
    }

    /** As a client could do with many small parts in one segment: then the upstream's demand is used up for a moment. */
    @Test
    void moments_in_which_the_upstream_takes_nothing_do_not_begin_a_new_window() {
        body(client.flux(), PACE).subscribe(upstream);
        permit.use();
        for (int i = 0; i < 4; i++) {
            upstream.request(1);
            pass(4);
            send(1);
        }
        assertThat(seen).last().isEqualTo("SlowBodyException");
    }

    @Test
    void a_fast_body_passes_an_upstream_that_takes_one_part_at_a_time() {
        body(client.flux(), PACE).subscribe(upstream);
        permit.use();
        for (int i = 0; i < 60; i++) {
            upstream.request(1);
            pass(1);
            send(200);
        }
        assertThat(seen).hasSize(60).containsOnly("200");
    }

    /** Over HTTP/2, while other streams use up the window of the connection. */
    @Test
    void the_time_in_which_the_client_may_not_send_does_not_count() {
        read(PACE);
        permit.use();
        pass(5);
        answered.set(true);
        pass(3600);
        answered.set(false);
        pass(9);
        assertThat(seen).isEmpty();
        pass(2);
        assertThat(seen).containsExactly("SlowBodyException");
    }

    @Test
    void a_part_that_comes_too_late_is_released() {
        TestPublisher<DataBuffer> late = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        body(late.flux(), PACE).subscribe(upstream);
        upstream.request(1_000);
        pass(10);
        NettyDataBuffer part = new NettyDataBufferFactory(UnpooledByteBufAllocator.DEFAULT).allocateBuffer(8);
        late.next(part);
        assertThat(part.isAllocated()).isFalse();
        assertThat(seen).containsExactly("SlowBodyException");
    }
}
