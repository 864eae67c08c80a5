package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** On which thread a request resumes: on its own event loop. */
abstract class EventLoopContract extends PoolTopic {

    private static final Executor SHUT_DOWN = task -> {
        throw new RejectedExecutionException("shut down");
    };

    EventLoopContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void a_granted_request_runs_on_its_own_event_loop() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> loop = new ArrayDeque<>();
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        run(pool, PermitRequest.of("b").withEventLoop(loop::add), second);
        complete(first);
        assertThat(second.started).hasValue(0);
        loop.remove().run();
        answer();
        assertThat(second.started).hasValue(1);
        complete(second);
    }

    @Test
    void when_the_event_loop_rejects_a_grant_the_permit_comes_back_and_the_subscriber_gets_the_error() {
        PermitPool pool = poolOf(1);
        Work work = new Work();
        assertThat(run(pool, PermitRequest.of("a").withEventLoop(SHUT_DOWN), work)
                        .expectTerminalError())
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(work.started).hasValue(0);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void when_the_event_loop_rejects_a_refusal_the_subscriber_still_gets_it() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> second = run(pool, PermitRequest.of("a").withEventLoop(SHUT_DOWN), new Work());
        pass(Duration.ofSeconds(2));
        assertRefused(second, RefusalReason.MAX_WAIT);
        complete(first);
    }

    @Test
    void a_grant_that_reaches_its_event_loop_after_the_maximum_wait_is_refused_and_its_permit_comes_back() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)));
        Queue<Runnable> stuck = new ArrayDeque<>();
        Work work = new Work();
        TestSubscriber<Void> late = run(pool, PermitRequest.of("a").withEventLoop(stuck::add), work);
        pass(Duration.ofSeconds(2));
        stuck.forEach(Runnable::run);
        answer();
        assertThat(work.started).hasValue(0);
        assertRefused(late, RefusalReason.MAX_WAIT);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void an_event_loop_that_runs_a_task_and_then_throws_ends_no_healthy_work() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        PermitRequest odd = PermitRequest.of("a").withEventLoop(task -> {
            task.run();
            throw new RejectedExecutionException("too late");
        });
        TestSubscriber<Void> one = run(pool, odd, first);
        TestSubscriber<Void> other = run(pool, odd, second);
        assertThat(first.started).hasValue(1);
        complete(first);
        assertThat(second.started).hasValue(1);
        complete(second);
        assertThat(one.isTerminatedComplete()).isTrue();
        assertThat(other.isTerminatedComplete()).isTrue();
        subscribe(pool.close(Duration.ofSeconds(Long.MAX_VALUE)));
        TestSubscriber<Void> late = run(pool, odd, new Work());
        assertRefused(late, RefusalReason.DRAINING);
        assertThat(late.getProtocolErrors()).isEmpty();
        assertThat(heard.refused).containsExactly(RefusalReason.DRAINING);
    }
}
