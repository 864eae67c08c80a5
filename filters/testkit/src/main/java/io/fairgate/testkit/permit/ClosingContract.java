package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** A pool that is closed. */
abstract class ClosingContract extends PoolTopic {

    ClosingContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void a_pool_is_not_closed_before_subscription() {
        PermitPool pool = poolOf(1);
        pool.close(Duration.ZERO);
        Work work = new Work();
        run(pool, "a", work);
        assertThat(work.started).hasValue(1);
        complete(work);
    }

    @Test
    void a_closing_pool_refuses_new_requests_serves_waiting_ones_and_completes_when_all_are_done() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        run(pool, "a", second);
        TestSubscriber<Void> closed = subscribe(pool.close(Duration.ofSeconds(1)));
        assertRefused(run(pool, "a", new Work()), RefusalReason.DRAINING);
        complete(first);
        assertThat(second.started).hasValue(1);
        assertThat(closed.isTerminated()).isFalse();
        complete(second);
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void when_its_patience_is_over_a_closing_pool_refuses_requests_that_still_wait() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> waiting = run(pool, "a", new Work());
        TestSubscriber<Void> closed = subscribe(pool.close(Duration.ofSeconds(1)));
        pass(Duration.ofSeconds(1));
        assertRefused(waiting, RefusalReason.DRAINING);
        assertThat(closed.isTerminated()).isFalse();
        complete(first);
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void cancelling_a_close_does_not_open_the_pool_again() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        run(pool, "a", first);
        cancel(subscribe(pool.close(Duration.ofSeconds(1))));
        assertRefused(run(pool, "a", new Work()), RefusalReason.DRAINING);
        complete(first);
    }
}
