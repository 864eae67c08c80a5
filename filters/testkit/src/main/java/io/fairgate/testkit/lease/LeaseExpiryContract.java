package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases expire. */
abstract class LeaseExpiryContract extends LeaseTopic {

    LeaseExpiryContract(LeasesContract backend) {
        super(backend);
    }

    @Test
    void a_silent_holder_loses_its_permits_when_its_time_is_over_and_the_next_one_gets_them() {
        LeaseId silent = scene.holding(2);
        LeaseId next = scene.opened();
        CompletableFuture<Boolean> answer = scene.acquire(next, permits(1, "pool", Duration.ofMinutes(1)));
        scene.time.advanceBy(TTL.minusMillis(1));
        scene.assertStillWaits(answer);
        scene.time.advanceBy(Duration.ofMillis(1));
        scene.assertHeld(answer);
        assertThat(scene.exists(silent)).isFalse();
        assertThat(scene.events).contains("EXPIRED with 1");
        scene.release(next);
    }

    @Test
    void an_expired_lease_does_not_exist_for_any_call_even_if_no_timer_has_run() {
        LeaseId id = scene.opened();
        assertThat(scene.answer(leases.extend(id, Duration.ZERO))).isZero();
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.answer(leases.extend(id, TTL))).isNull();
        assertThat(scene.answer(leases.release(id))).isFalse();
        assertThat(scene.events).containsExactly("extended for PT0S", "EXPIRED with 0");
    }
}
