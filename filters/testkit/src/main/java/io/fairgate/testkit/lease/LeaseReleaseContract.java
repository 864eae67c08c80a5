package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases are released, whole or the permits of one pool. */
abstract class LeaseReleaseContract extends LeaseTopic {

    LeaseReleaseContract(LeasesContract backend) {
        super(backend);
    }

    @Test
    void permits_are_held_until_the_lease_is_released() {
        LeaseId id = scene.holding(2);
        assertThat(scene.answer(leases.release(id))).isTrue();
        assertThat(scene.answer(leases.release(id))).isFalse();
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.events).containsExactly("granted 2 of pool", "RELEASED with 1");
    }

    @Test
    void only_a_lease_that_neither_holds_permits_nor_waits_is_forgotten() {
        LeaseId holder = scene.holding(2);
        LeaseId waiting = scene.opened();
        assertThat(scene.await(scene.acquire(waiting, permits(1, "pool", Duration.ZERO))))
                .isFalse();
        LeaseId unused = scene.opened();
        for (LeaseId id : List.of(holder, waiting, unused, LeaseId.random())) {
            scene.answer(leases.forget(id));
        }
        assertThat(scene.exists(holder)).isTrue();
        assertThat(scene.exists(waiting)).isTrue();
        assertThat(scene.exists(unused)).isFalse();
        scene.release(holder, waiting);
    }

    @Test
    void a_release_makes_room_for_the_next_lease() {
        LeaseId holder = scene.holding(2);
        LeaseId next = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(next, permits(2, "pool", TTL));
        scene.assertStillWaits(answer);
        scene.release(holder);
        scene.assertHeld(answer);
        scene.release(next);
    }

    @Test
    void a_lease_that_released_its_permits_goes_on() {
        LeaseId id = scene.holding(2);
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        assertThat(scene.answer(leases.release(id, "pool"))).isFalse();
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.status(id).held()).isEmpty();
        assertThat(scene.events).containsExactly("granted 2 of pool", "released pool");
        scene.release(id);
        assertThat(scene.error(leases.release(id, "pool").toFuture())).isInstanceOf(LeaseGoneException.class);
    }
}
