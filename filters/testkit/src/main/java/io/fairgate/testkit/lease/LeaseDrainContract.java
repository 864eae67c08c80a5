package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases that are drained: no call waits any more. A lease that waited may end, or go on elsewhere. */
abstract class LeaseDrainContract extends LeaseTopic {

    LeaseDrainContract(LeasesContract backend) {
        super(backend);
    }

    private void drain() {
        scene.answer(leases.drain());
    }

    private void assertGone(CompletableFuture<Boolean> answer) {
        assertThat(scene.error(answer)).isInstanceOf(LeaseGoneException.class);
    }

    /** A lease that waited may have ended. */
    private void releaseIfThere(LeaseId id) {
        assertThat(scene.answer(leases.release(id))).isNotNull();
    }

    @Test
    void calls_that_wait_error_and_permits_stay_with_their_holders() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> first = scene.acquire(id, permits(1, "pool", TTL));
        CompletableFuture<Boolean> second = scene.acquire(id, permits(1, "pool", TTL));
        drain();
        assertGone(first);
        assertGone(second);
        assertThat(scene.status(holder).held()).hasSize(1);
        assertThat(scene.inFlight()).isEqualTo(2);
        assertThat(scene.answer(leases.extend(holder, TTL))).isEqualTo(TTL);
        releaseIfThere(id);
        scene.release(holder);
    }

    @Test
    void no_call_waits_afterwards() {
        LeaseId all = scene.holding(2);
        LeaseId id = scene.opened();
        scene.assertHeld(scene.acquire(id, one("other")));
        drain();
        assertGone(scene.acquire(id, permits(1, "pool", TTL)));
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other");
        scene.release(all, id);
    }

    @Test
    void a_lease_that_holds_permits_and_waits_for_more_stays_and_its_calls_error() {
        LeaseId all = scene.holding(2);
        LeaseId id = scene.opened();
        scene.assertHeld(scene.acquire(id, one("other")));
        CompletableFuture<Boolean> answer = scene.acquire(id, permits(1, "pool", TTL));
        scene.assertStillWaits(answer);
        drain();
        assertGone(answer);
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other");
        scene.release(id, all);
    }
}
