package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Handles that a subscriber waits for ({@link PermitPool#acquire}). */
abstract class HandleContract extends PoolTopic {

    HandleContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void a_handle_is_waited_for_and_its_permits_come_back_when_it_is_released() {
        PermitPool pool = poolOf(1);
        HeldPermits first = hold(pool, "a", 1);
        TestSubscriber<HeldPermits> second = subscribe(pool.acquire(request("b")));
        assertThat(second.getReceivedOnNext()).isEmpty();
        release(first);
        HeldPermits held = granted(second);
        assertThat(held.isHeld()).isTrue();
        assertThat(held.permits()).isOne();
        assertThat(held.tenant()).isEqualTo(TenantId.of("b"));
        assertThat(inFlight(pool)).isOne();
        release(held, held);
        assertThat(held.isHeld()).isFalse();
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.released).hasValue(2);
    }

    @Test
    void a_released_handle_releases_nothing_of_the_next_holder() {
        PermitPool pool = poolOf(1);
        HeldPermits first = hold(pool, "a", 1);
        release(first);
        HeldPermits second = hold(pool, "b", 1);
        release(first);
        assertThat(inFlight(pool)).isOne();
        assertThat(second.isHeld()).isTrue();
        second.close();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_subscriber_that_cancels_leaves_the_queue() {
        PermitPool pool = poolOf(1);
        HeldPermits first = hold(pool, "a", 1);
        TestSubscriber<HeldPermits> waiting = subscribe(pool.acquire(request("b")));
        assertThat(waiting(pool)).isOne();
        cancel(waiting);
        assertThat(waiting(pool)).isZero();
        release(first);
        assertThat(heard.granted).hasValue(1);
    }

    @Test
    void a_cancellation_at_whatever_step_of_the_grant_loses_no_permit() {
        PermitPool pool = poolOf(1);
        for (int step = 0; step < STEPS; step++) {
            HeldPermits first = hold(pool, "a", 1);
            TestSubscriber<HeldPermits> waiting = subscribe(pool.acquire(request("b")));
            first.release();
            time.advanceBy(STEP.multipliedBy(step));
            cancel(waiting);
            waiting.getReceivedOnNext().forEach(this::release);
            assertThat(waiting.getReceivedOnNextAfterCancellation()).isEmpty();
            assertThat(inFlight(pool)).as("after step %d", step).isZero();
        }
    }

    @Test
    void a_handle_that_does_not_come_in_time_is_refused() {
        PermitPool pool = poolOf(1);
        HeldPermits first = hold(pool, "a", 1);
        TestSubscriber<HeldPermits> second = subscribe(pool.acquire(request("b").withMaxWait(Duration.ofMillis(10))));
        pass(Duration.ofMillis(10));
        assertRefused(second, RefusalReason.MAX_WAIT);
        release(first);
    }

    @Test
    void a_handle_that_is_never_released_is_taken_back_after_the_maximum_hold() {
        PermitPool pool = poolOf(1);
        HeldPermits held = granted(subscribe(pool.acquire(request("a").withMaxHold(Duration.ofSeconds(5)))));
        pass(Duration.ofSeconds(5));
        assertThat(held.isHeld()).isFalse();
        assertThat(inFlight(pool)).isZero();
        release(held);
        assertThat(heard.released).hasValue(1);
    }

    @Test
    void a_handle_that_is_not_requested_within_the_maximum_hold_is_taken_back_with_an_error() {
        PermitPool pool = poolOf(1);
        TestSubscriber<HeldPermits> late =
                TestSubscriber.builder().initialRequest(0).build();
        pool.acquire(request("a").withMaxHold(Duration.ofSeconds(5))).subscribe(late);
        pass(Duration.ofSeconds(5));
        assertThat(late.expectTerminalError()).isInstanceOf(HoldExpiredException.class);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void cancelling_after_the_handle_was_handed_over_changes_nothing() {
        PermitPool pool = poolOf(1);
        TestSubscriber<HeldPermits> subscriber = subscribe(pool.acquire(request("a")));
        HeldPermits held = granted(subscriber);
        cancel(subscriber);
        assertThat(held.isHeld()).isTrue();
        assertThat(inFlight(pool)).isOne();
        release(held);
    }

    @Test
    void a_handle_is_not_handed_over_before_it_is_requested() {
        PermitPool pool = poolOf(1);
        TestSubscriber<HeldPermits> late =
                TestSubscriber.builder().initialRequest(0).build();
        pool.acquire(request("a")).subscribe(late);
        assertThat(inFlight(pool)).isOne();
        assertThat(late.getReceivedOnNext()).isEmpty();
        late.request(1);
        answer();
        release(granted(late));

        TestSubscriber<HeldPermits> never =
                TestSubscriber.builder().initialRequest(0).build();
        pool.acquire(request("a")).subscribe(never);
        assertThat(inFlight(pool)).isOne();
        cancel(never);
        assertThat(inFlight(pool)).isZero();
    }
}
