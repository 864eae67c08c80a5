package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.LeaseBounds;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Leases are extended: within their own maximum hold, and within the bounds of their pools ({@code other} has some). */
abstract class LeaseExtendContract extends LeaseTopic {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final LeaseTerm LONG = new LeaseTerm(HOUR, LeaseTerm.LONGEST);

    LeaseExtendContract(LeasesContract backend) {
        super(backend);
        scene.bounds.put("other", new LeaseBounds(MINUTE, MINUTE.multipliedBy(3)));
    }

    private void acquire(LeaseId id, String pool, @Nullable Duration ttl) {
        scene.assertHeld(scene.acquire(id, LeaseRequest.of(pool, 1, Duration.ZERO, ttl)));
    }

    private @Nullable Duration extend(LeaseId id, Duration ttl) {
        return scene.answer(leases.extend(id, ttl));
    }

    @Test
    void an_extension_counts_from_now_on_and_ends_at_the_maximum_hold_which_counts_from_the_grant() {
        LeaseId id = scene.opened();
        scene.time.advanceBy(Duration.ofSeconds(20));
        scene.assertHeld(scene.acquire(id, one("pool")));
        scene.time.advanceBy(Duration.ofSeconds(29));
        for (int i = 1; i <= 9; i++) {
            assertThat(extend(id, TTL)).isEqualTo(TTL);
            scene.time.advanceBy(Duration.ofSeconds(29));
        }
        assertThat(extend(id, TTL)).isEqualTo(Duration.ofSeconds(10));
        scene.time.advanceBy(Duration.ofSeconds(10));
        assertThat(extend(id, TTL)).isNull();
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void an_extension_may_also_shorten() {
        LeaseId first = scene.holding(1);
        LeaseId second = scene.holding(1);
        assertThat(extend(second, Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
        scene.time.advanceBy(Duration.ofSeconds(1));
        assertThat(scene.exists(second)).isFalse();
        assertThat(scene.inFlight()).isOne();
        assertThat(scene.exists(first)).isTrue();
        scene.release(first);
    }

    @Test
    void a_grant_makes_no_lease_end_before_the_time_that_an_extension_promised() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(id, permits(1, "pool", MINUTE));
        extend(id, Duration.ofMinutes(2));
        scene.time.advanceBy(Duration.ofSeconds(20));
        scene.release(holder);
        scene.assertHeld(answer);
        assertThat(scene.left(id)).isEqualTo(Duration.ofSeconds(100));
        extend(id, TTL);
        assertThat(scene.left(id)).isEqualTo(TTL);
        scene.release(id);
    }

    @Test
    void a_grant_bounds_a_lease_that_was_opened_for_longer() {
        LeaseId id = scene.opened(ACME, LONG);
        acquire(id, "pool", null);
        assertThat(scene.left(id)).isEqualTo(HOUR);
        acquire(id, "other", null);
        assertThat(scene.left(id)).isEqualTo(MINUTE);
        scene.time.advanceBy(MINUTE);
        assertThat(scene.exists(id)).isFalse();
    }

    @Test
    void a_grant_does_not_prolong_a_lease_without_a_new_time_to_live() {
        LeaseId id = scene.opened(ACME, new LeaseTerm(Duration.ofSeconds(10), LeaseTerm.LONGEST));
        acquire(id, "other", null);
        assertThat(scene.left(id)).isEqualTo(Duration.ofSeconds(10));
        scene.release(id);
    }

    @Test
    void a_time_to_live_that_is_asked_for_with_the_permits_is_cut() {
        LeaseId id = scene.opened(ACME, LONG);
        acquire(id, "other", HOUR);
        assertThat(scene.left(id)).isEqualTo(MINUTE);
        scene.release(id);
    }

    @Test
    void an_extension_is_cut_by_what_is_held_and_the_whole_hold_counts_from_the_grant() {
        LeaseId id = scene.opened(ACME, LONG);
        scene.time.advanceBy(MINUTE);
        acquire(id, "other", null);
        for (int i = 0; i < 2; i++) {
            scene.time.advanceBy(MINUTE.dividedBy(2));
            assertThat(extend(id, HOUR)).isEqualTo(MINUTE);
        }
        scene.time.advanceBy(MINUTE.dividedBy(2));
        scene.time.advanceBy(MINUTE.dividedBy(4));
        assertThat(extend(id, HOUR)).isEqualTo(MINUTE);
        scene.time.advanceBy(MINUTE.dividedBy(2));
        assertThat(extend(id, HOUR)).isEqualTo(MINUTE.multipliedBy(3).dividedBy(4));
        scene.release(id);
    }

    @Test
    void a_pool_whose_permits_were_released_bounds_no_more() {
        LeaseId id = scene.opened(ACME, LONG);
        acquire(id, "other", null);
        assertThat(scene.answer(leases.release(id, "other"))).isTrue();
        assertThat(scene.left(id)).isEqualTo(MINUTE);
        assertThat(extend(id, HOUR)).isEqualTo(HOUR);
        scene.time.advanceBy(MINUTE.multipliedBy(10));
        assertThat(scene.exists(id)).isTrue();
        scene.release(id);
    }

    @Test
    void bounds_that_change_bind_from_the_next_call_on() {
        LeaseId id = scene.opened(ACME, LONG);
        acquire(id, "other", null);
        scene.bounds.put("other", new LeaseBounds(MINUTE.multipliedBy(2), HOUR));
        assertThat(extend(id, HOUR)).isEqualTo(MINUTE.multipliedBy(2));
        scene.release(id);
    }
}
