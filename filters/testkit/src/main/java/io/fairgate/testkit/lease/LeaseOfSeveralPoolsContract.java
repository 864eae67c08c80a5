package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.PermitRefusedException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases of permits of several pools, of which they get all at once or nothing. */
abstract class LeaseOfSeveralPoolsContract extends LeaseTopic {

    LeaseOfSeveralPoolsContract(LeasesContract backend) {
        super(backend);
    }

    private CompletableFuture<Boolean> both(LeaseId id) {
        return scene.acquire(id, new LeaseRequest(Map.of("pool", 2, "other", 1), Duration.ofSeconds(10), TTL));
    }

    private String queueOf(LeaseId id) {
        return Objects.requireNonNull(scene.status(id).waiting()).pool();
    }

    @Test
    void a_lease_holds_permits_of_several_pools_and_releases_them_one_by_one() {
        LeaseId id = scene.opened();
        scene.assertHeld(scene.acquire(id, one("pool")));
        scene.assertHeld(scene.acquire(id, one("other")));
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("pool", "other");
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        assertThat(scene.answer(leases.release(id, "pool"))).isFalse();
        assertThat(scene.inFlight()).isZero();
        scene.release(id);
        assertThat(scene.events)
                .containsExactly("granted 1 of pool", "granted 1 of other", "released pool", "RELEASED with 1");
    }

    @Test
    void several_pools_are_taken_at_once_and_nothing_is_held_meanwhile() {
        LeaseId holder = scene.opened();
        scene.assertHeld(scene.acquire(holder, one("other")));
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = both(id);
        scene.assertStillWaits(answer);
        assertThat(scene.inFlight()).isZero();
        assertThat(queueOf(id)).isEqualTo("other");
        LeaseId inTheWay = scene.holding(1);
        scene.release(holder);
        scene.assertStillWaits(answer);
        assertThat(scene.inFlight(scene.other)).isZero();
        assertThat(queueOf(id)).isEqualTo("pool");
        scene.release(inTheWay);
        scene.assertHeld(answer);
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other", "pool");
        assertThat(scene.status(id).held())
                .extracting(LeaseStatus.Held::token)
                .containsOnly(scene.status(id).held().get(0).token());
        scene.release(id);
    }

    @Test
    void a_lease_that_waits_for_several_pools_and_ends_leaves_each_queue() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer = both(id);
        scene.release(id);
        assertThat(scene.error(answer)).isNotNull();
        assertThat(scene.waiting()).isZero();
        scene.release(holder);
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.inFlight(scene.other)).isZero();
    }

    @Test
    void when_one_of_several_pools_refuses_nothing_is_held() {
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer =
                scene.acquire(id, new LeaseRequest(Map.of("pool", 1, "other", 2), Duration.ofSeconds(10), TTL));
        assertThat(scene.error(answer)).isInstanceOf(PermitRefusedException.class);
        assertThat(scene.inFlight()).isZero();
        scene.release(id);
    }

    @Test
    void a_lease_that_gives_up_one_pool_keeps_waiting_for_the_others() {
        LeaseId all = scene.holding(2);
        LeaseId id = scene.opened();
        LeaseRequest both = new LeaseRequest(Map.of("pool", 2, "other", 1), Duration.ZERO, null);
        assertThat(scene.await(scene.acquire(id, both))).isFalse();
        assertThat(scene.answer(leases.release(id, "other"))).isTrue();
        assertThat(scene.status(id).waiting())
                .isNotNull()
                .satisfies(left -> assertThat(left.permits()).containsExactlyEntriesOf(Map.of("pool", 2)));
        scene.release(all);
        scene.assertHeld(scene.acquire(id, permits(2, "pool", TTL)));
        scene.release(id);
    }
}
