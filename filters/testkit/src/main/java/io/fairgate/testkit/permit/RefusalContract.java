package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Bounds of waiting, of queues and of permits: which request is refused, and why. */
abstract class RefusalContract extends PoolTopic {

    RefusalContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void a_request_that_has_waited_for_the_maximum_wait_is_refused() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> second = run(pool, "b", new Work());
        pass(Duration.ofMillis(1900));
        assertThat(waiting(pool)).isOne();
        pass(Duration.ofMillis(100));
        assertRefused(second, RefusalReason.MAX_WAIT);
        assertThat(waiting(pool)).isZero();
        complete(first);
    }

    @Test
    void a_request_may_have_a_maximum_wait_of_its_own() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(2)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> shorter = run(pool, request("b").withMaxWait(Duration.ofSeconds(1)), new Work());
        TestSubscriber<Void> longer = run(pool, request("b").withMaxWait(Duration.ofSeconds(9)), new Work());
        pass(Duration.ofSeconds(1));
        assertRefused(shorter, RefusalReason.MAX_WAIT);
        pass(Duration.ofSeconds(7));
        assertThat(longer.isTerminated()).isFalse();
        pass(Duration.ofSeconds(1));
        assertRefused(longer, RefusalReason.MAX_WAIT);
        complete(first);
    }

    @Test
    void a_request_that_waits_because_of_the_cap_of_its_tenant_is_refused_for_that_reason() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4), with("a", ShareSettings.EQUAL.withMaxInFlight(1)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> second = run(pool, "a", new Work());
        pass(PoolSettings.DEFAULT_MAX_WAIT);
        assertRefused(second, RefusalReason.TENANT_CAP);
        complete(first);
    }

    @Test
    void a_tenant_with_a_full_queue_is_refused_and_others_are_not() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1), with("a", ShareSettings.EQUAL.withMaxWaiting(1)));
        Work running = new Work();
        Work waiting = new Work();
        Work ofOther = new Work();
        run(pool, "a", running);
        run(pool, "a", waiting);
        assertRefused(run(pool, "a", new Work()), RefusalReason.TENANT_QUEUE_FULL);
        run(pool, "b", ofOther);
        assertThat(waiting(pool)).isEqualTo(2);
        complete(running, ofOther, waiting);
    }

    @Test
    void a_full_pool_refuses_the_newest_of_the_longest_queue_and_admits_the_tenant_with_the_short_one() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(3));
        Work running = new Work();
        run(pool, "flood", running);
        List<TestSubscriber<Void>> queued = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queued.add(run(pool, "flood", new Work()));
        }
        queued.add(run(pool, "quiet", new Work()));
        assertRefused(queued.get(2), RefusalReason.POOL_QUEUE_FULL);
        assertThat(queued).filteredOn(TestSubscriber::isTerminated).hasSize(1);
        assertThat(waiting(pool)).isEqualTo(3);
        queued.forEach(this::cancel);
        complete(running);
    }

    @Test
    void a_pool_without_a_queue_still_serves_requests_that_need_not_wait() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(0));
        Work first = new Work();
        run(pool, "a", first);
        assertThat(first.started).hasValue(1);
        assertRefused(run(pool, "b", new Work()), RefusalReason.POOL_QUEUE_FULL);
        complete(first);
    }

    @Test
    void a_queue_may_be_unbounded() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWaiting(Integer.MAX_VALUE));
        HeldPermits held = hold(pool, "a", 1);
        Work work = new Work();
        run(pool, "a", work);
        assertThat(waiting(pool)).isOne();
        release(held);
        complete(work);
    }

    @Test
    void a_request_for_more_permits_than_its_tenant_can_ever_hold_is_refused_without_waiting() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4), with("capped", ShareSettings.EQUAL.withMaxInFlight(2)));
        assertRefused(run(pool, request("a").withPermits(5), new Work()), RefusalReason.TOO_LARGE);
        assertRefused(run(pool, request("capped").withPermits(3), new Work()), RefusalReason.TOO_LARGE);
    }
}
