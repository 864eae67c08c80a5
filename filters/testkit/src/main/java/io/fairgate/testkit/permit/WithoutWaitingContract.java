package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/**
 * Permits without waiting ({@link PermitPool#tryAcquire}). A pool may say no although permits are free, so these tests try a
 * few times.
 */
abstract class WithoutWaitingContract extends PoolTopic {

    private static final int TRIES = 10;

    WithoutWaitingContract(PoolBackend backend) {
        super(backend);
    }

    private @Nullable HeldPermits tried(PermitPool pool, PermitRequest request) {
        HeldPermits held = null;
        for (int i = 0; i < TRIES && held == null; i++) {
            held = pool.tryAcquire(request);
            answer();
        }
        return held;
    }

    private HeldPermits taken(PermitPool pool, String tenant, int permits) {
        return Objects.requireNonNull(tried(pool, request(tenant).withPermits(permits)), "no permits");
    }

    @Test
    void permits_are_taken_without_waiting_and_come_back_once_however_often_they_are_released() {
        PermitPool pool = poolOf(2);
        HeldPermits first = taken(pool, "a", 1);
        HeldPermits second = taken(pool, "b", 1);
        assertThat(tried(pool, request("a"))).isNull();
        release(first, first);
        HeldPermits third = taken(pool, "c", 1);
        release(first);
        assertThat(tried(pool, request("a"))).isNull();
        assertThat(inFlight(pool)).isEqualTo(2);
        release(first, second, second);
        third.close();
        assertThat(inFlight(pool)).isZero();
        assertThat(heard.granted).hasValue(3);
        assertThat(heard.released).hasValue(3);
    }

    @Test
    void several_permits_are_taken_together_or_not_at_all() {
        PermitPool pool = poolOf(3);
        HeldPermits two = taken(pool, "a", 2);
        assertThat(tried(pool, request("b").withPermits(2))).isNull();
        assertThat(inFlight(pool)).isEqualTo(2);
        HeldPermits one = taken(pool, "b", 1);
        release(two, one);
    }

    @Test
    void a_handle_knows_whether_its_permits_are_held() {
        PermitPool pool = poolOf(3);
        for (int permits = 1; permits <= 3; permits++) {
            HeldPermits held = taken(pool, "a", permits);
            assertThat(held.isHeld()).isTrue();
            assertThat(held.permits()).isEqualTo(permits);
            assertThat(held.tenant()).isEqualTo(TenantId.of("a"));
            release(held);
            assertThat(held.isHeld()).isFalse();
        }
    }

    @Test
    void a_request_that_waits_is_not_overtaken() {
        PermitPool pool = poolOf(2);
        HeldPermits first = taken(pool, "a", 1);
        Work large = new Work();
        run(pool, request("b").withPermits(2), large);
        assertThat(tried(pool, request("c"))).isNull();
        assertThat(waiting(pool)).isOne();
        release(first);
        assertThat(large.started).hasValue(1);
        complete(large);
    }

    @Test
    void permits_that_were_taken_without_waiting_are_not_taken_back() {
        PermitPool pool = poolOf(1);
        HeldPermits held = Objects.requireNonNull(tried(pool, request("a").withMaxHold(Duration.ofSeconds(1))));
        pass(Duration.ofHours(1));
        assertThat(held.isHeld()).isTrue();
        assertThat(inFlight(pool)).isOne();
        release(held);
    }

    @Test
    void a_closing_pool_gives_no_permits_and_waits_for_those_that_were_taken() {
        PermitPool pool = poolOf(2);
        HeldPermits held = taken(pool, "a", 1);
        TestSubscriber<Void> closed = subscribe(pool.close(Duration.ofSeconds(1)));
        assertThat(tried(pool, request("a"))).isNull();
        pass(Duration.ofSeconds(1));
        assertThat(closed.isTerminated()).isFalse();
        release(held);
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void no_permit_is_said_to_be_open_while_all_are_held_or_a_request_waits() {
        PermitPool pool = poolOf(1);
        HeldPermits held = taken(pool, "a", 1);
        TestSubscriber<HeldPermits> waiting =
                subscribe(pool.acquire(request("b").withPermits(1)));
        for (int i = 0; i < TRIES; i++) {
            assertThat(pool.hasOpenPermit(TenantId.of("a"))).isFalse();
        }
        cancel(waiting);
        release(held);
    }
}
