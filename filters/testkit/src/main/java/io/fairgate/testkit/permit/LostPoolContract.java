package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.test.subscriber.TestSubscriber;

/** A pool whose backend cannot be reached for a while; only for backends that can be lost. */
public abstract class LostPoolContract extends PoolTopic {

    protected LostPoolContract(PoolBackend backend) {
        super(backend);
    }

    /** Cuts the connection of the pool. */
    protected abstract void lose();

    /** Connects the pool again. */
    protected abstract void regain();

    private void loseNow() {
        lose();
        answer();
    }

    private void regainNow() {
        regain();
        answer();
    }

    private static void assertUnavailable(TestSubscriber<?> subscriber) {
        assertThat(subscriber.expectTerminalError()).isInstanceOf(PoolUnavailableException.class);
        assertThat(subscriber.getProtocolErrors()).isEmpty();
    }

    /** What a process knows without the backend, it may answer. */
    private static void assertAnsweredOrUnavailable(TestSubscriber<?> subscriber) {
        assertThat(subscriber.getProtocolErrors()).isEmpty();
        if (!subscriber.isTerminatedComplete()) {
            assertUnavailable(subscriber);
        }
    }

    @Test
    void every_request_errors_and_the_pool_serves_again_later() {
        PermitPool pool = poolOf(2);
        Work work = new Work();
        List<Publisher<?>> requests = List.of(
                pool.withPermit(request("a"), work.mono),
                pool.withPermit(request("a"), work.mono.flux()),
                pool.acquire(request("a")),
                pool.restore(request("a")));
        loseNow();
        requests.forEach(request -> assertUnavailable(subscribe(request)));
        assertThat(pool.tryAcquire(request("a"))).isNull();
        assertThat(pool.hasOpenPermit(TenantId.of("a"))).isFalse();
        assertThat(work.started).hasValue(0);
        regainNow();
        assertThat(inFlight(pool)).isZero();
        release(hold(pool, "a", 2));
    }

    @Test
    void a_question_is_answered_or_errors() {
        PermitPool pool = poolOf(2);
        List<Publisher<?>> questions = List.of(
                pool.totals(),
                pool.inFlight(),
                pool.snapshot(),
                pool.standing(TenantId.of("a")),
                pool.couldGrant(TenantId.of("a"), 1));
        loseNow();
        questions.forEach(question -> assertAnsweredOrUnavailable(subscribe(question)));
        regainNow();
    }

    @Test
    void a_pool_that_is_closed_meanwhile_does_not_keep_the_caller_waiting() {
        PermitPool pool = poolOf(2);
        loseNow();
        TestSubscriber<Void> closed = subscribe(pool.close(Duration.ZERO));
        time.advanceBy(Duration.ofSeconds(1));
        assertAnsweredOrUnavailable(closed);
        regainNow();
    }

    @Test
    void a_request_that_waits_errors_on_its_event_loop_and_leaves_the_queue() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> loop = new ArrayDeque<>();
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> waiting = run(pool, PermitRequest.of("b").withEventLoop(loop::add), second);
        loseNow();
        assertThat(waiting.isTerminated()).isFalse();
        loop.forEach(Runnable::run);
        assertUnavailable(waiting);
        regainNow();
        assertThat(waiting(pool)).isZero();
        complete(first);
        assertThat(second.started).hasValue(0);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void at_whatever_step_of_a_request_the_pool_is_lost_its_permit_comes_back() {
        PermitPool pool = poolOf(1);
        for (int step = 0; step < STEPS; step++) {
            Work work = new Work();
            TestSubscriber<Void> request = TestSubscriber.create();
            pool.withPermit(request("a"), work.mono).subscribe(request);
            time.advanceBy(STEP.multipliedBy(step));
            loseNow();
            regainNow();
            if (work.started.get() == 0) {
                assertUnavailable(request);
            } else {
                complete(work);
            }
            assertThat(inFlight(pool)).as("after step %d", step).isZero();
        }
    }

    @Test
    void a_granted_request_that_has_not_reached_its_event_loop_gives_its_permit_back() {
        PermitPool pool = poolOf(1);
        Queue<Runnable> loop = new ArrayDeque<>();
        Work work = new Work();
        TestSubscriber<Void> granted = run(pool, PermitRequest.of("a").withEventLoop(loop::add), work);
        loseNow();
        loop.forEach(Runnable::run);
        answer();
        regainNow();
        assertUnavailable(granted);
        assertThat(work.started).hasValue(0);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_work_that_runs_goes_on_and_its_permit_comes_back_when_the_pool_can_be_reached_again() {
        PermitPool pool = poolOf(2);
        Work ends = new Work();
        Work goesOn = new Work();
        TestSubscriber<Void> ended = run(pool, "a", ends);
        run(pool, "a", goesOn);
        loseNow();
        complete(ends);
        assertThat(ended.isTerminatedComplete()).isTrue();
        assertThat(goesOn.cancelled).hasValue(0);
        regainNow();
        assertThat(inFlight(pool)).isOne();
        complete(goesOn);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_handle_that_is_released_meanwhile_gives_its_permits_back_when_the_pool_can_be_reached_again() {
        PermitPool pool = poolOf(2);
        HeldPermits held = hold(pool, "a", 2);
        TestSubscriber<HeldPermits> waiting = subscribe(pool.acquire(request("b")));
        loseNow();
        assertUnavailable(waiting);
        release(held);
        assertThat(held.isHeld()).isFalse();
        regainNow();
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void a_subscriber_that_has_cancelled_gets_no_error_and_leaves_no_place_behind() {
        PermitPool pool = poolOf(1);
        HeldPermits held = hold(pool, "a", 1);
        TestSubscriber<Void> waiting = run(pool, "b", new Work());
        waiting.cancel();
        loseNow();
        assertThat(waiting.isTerminated()).isFalse();
        regainNow();
        assertThat(waiting(pool)).isZero();
        release(held);
    }

    @Test
    void a_change_of_settings_is_made_at_the_latest_when_the_pool_can_be_reached_again() {
        PermitPool pool = poolOf(1);
        loseNow();
        TestSubscriber<Void> change = subscribe(pool.reconfigure(PoolSettings.ofPermits(3), TenantShares.EQUAL));
        regainNow();
        assertThat(change.isTerminatedComplete()).isTrue();
        assertThat(pool.settings().permits()).isEqualTo(3);
        release(hold(pool, "a", 3));
    }
}
