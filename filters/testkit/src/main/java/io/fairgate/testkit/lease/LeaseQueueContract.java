package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.WaitingLeases;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases that wait for permits: their place in the queue, and the calls that wait with them. */
abstract class LeaseQueueContract extends LeaseTopic {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    LeaseQueueContract(LeasesContract backend) {
        super(backend);
    }

    @Test
    void a_grant_shows_how_long_the_lease_waited_for_it() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(id, permits(1, "pool", TEN_SECONDS));
        scene.time.advanceBy(Duration.ofSeconds(3));
        scene.release(holder);
        scene.assertHeld(answer);
        scene.time.advanceBy(Duration.ofSeconds(2));
        assertThat(scene.status(id).held()).singleElement().satisfies(held -> {
            assertThat(held.waitedNanos()).isEqualTo(Duration.ofSeconds(3).toNanos());
            assertThat(held.heldNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
        });
        scene.release(id);
    }

    @Test
    void a_repeated_request_keeps_its_place() {
        LeaseId holder = scene.holding(2);
        LeaseId first = scene.opened();
        LeaseId second = scene.opened();
        assertThat(scene.await(scene.acquire(first, one("pool")))).isFalse();
        assertThat(scene.await(scene.acquire(second, one("pool")))).isFalse();
        assertThat(scene.waiting()).isEqualTo(2);
        scene.time.advanceBy(Duration.ofSeconds(29));
        CompletableFuture<Boolean> again = scene.acquire(first, permits(1, "pool", TEN_SECONDS));
        assertThat(scene.waiting()).isEqualTo(2);
        assertThat(scene.status(first).waiting())
                .isEqualTo(new LeaseStatus.Waiting(
                        Map.of("pool", 1), "pool", 1, Duration.ofSeconds(29).toNanos()));
        assertThat(scene.status(second).waiting())
                .extracting(waiting -> Objects.requireNonNull(waiting).place())
                .isEqualTo(2);
        assertThat(scene.answer(leases.waiting("pool")))
                .isEqualTo(new WaitingLeases(2, 2, Duration.ofSeconds(29).toNanos()));
        assertThat(scene.answer(leases.release(holder, "pool"))).isTrue();
        scene.assertHeld(again);
        assertThat(scene.left(first)).isEqualTo(TTL);
        scene.release(holder, first, second);
    }

    @Test
    void a_lease_waits_on_for_its_time_to_live_when_its_caller_waits_no_longer() {
        LeaseId holder = scene.holding(2);
        scene.answer(leases.extend(holder, Duration.ofMinutes(4)));
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(id, permits(1, "pool", Duration.ofSeconds(40)));
        scene.time.advanceBy(Duration.ofSeconds(40));
        assertThat(scene.await(answer)).isFalse();
        scene.time.advanceBy(TTL.minusMillis(1));
        assertThat(scene.waiting()).isOne();
        scene.time.advanceBy(Duration.ofMillis(1));
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.waiting()).isZero();
        scene.release(holder);
    }

    @Test
    void a_cancelled_caller_takes_nothing_from_the_lease() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> left = scene.acquire(id, permits(1, "pool", TEN_SECONDS));
        left.cancel(true);
        assertThat(scene.waiting()).isOne();
        CompletableFuture<Boolean> stays = scene.acquire(id, permits(1, "pool", TEN_SECONDS));
        scene.release(holder);
        scene.assertHeld(stays);
        scene.release(id);
    }

    @Test
    void all_callers_of_a_lease_that_ends_are_answered() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> one = scene.acquire(id, permits(1, "pool", TEN_SECONDS));
        CompletableFuture<Boolean> two = scene.acquire(id, permits(1, "pool", TEN_SECONDS));
        scene.release(id);
        assertThat(scene.error(one)).isInstanceOf(LeaseGoneException.class);
        assertThat(scene.error(two)).isInstanceOf(LeaseGoneException.class);
        assertThat(scene.waiting()).isZero();
        assertThat(scene.error(scene.acquire(id, one("pool")))).isInstanceOf(LeaseGoneException.class);
        scene.release(holder);
    }

    @Test
    void a_lease_can_leave_the_queue_and_go_on() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(id, permits(1, "pool", TTL));
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        assertThat(scene.waiting()).isZero();
        assertThat(scene.await(answer)).isFalse();
        assertThat(scene.exists(id)).isTrue();
        scene.release(id, holder);
    }

    @Test
    void a_lease_waits_for_one_set_of_permits_at_a_time() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        assertThat(scene.await(scene.acquire(id, one("pool")))).isFalse();
        assertThat(scene.error(scene.acquire(id, one("other")))).isInstanceOf(IllegalStateException.class);
        scene.release(id, holder);
    }
}
