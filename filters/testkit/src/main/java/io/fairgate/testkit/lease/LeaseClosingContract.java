package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases of pools that are closed. */
abstract class LeaseClosingContract extends LeaseTopic {

    LeaseClosingContract(LeasesContract backend) {
        super(backend);
    }

    private void assertRefused(CompletableFuture<Boolean> answer) {
        assertThat(scene.error(answer))
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(RefusalReason.DRAINING));
    }

    @Test
    void a_pool_that_is_closed_refuses_leases_that_wait_and_leaves_permits_to_their_holders() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> waiting = scene.acquire(id, permits(1, "pool", TTL));
        CompletableFuture<Void> closed = scene.pool.close(Duration.ZERO).toFuture();
        assertRefused(waiting);
        assertThat(scene.status(id).waiting()).isNull();
        assertThat(scene.status(holder).held()).hasSize(1);
        assertThat(closed).isNotDone();
        assertThat(scene.answer(leases.extend(holder, TTL))).isEqualTo(TTL);
        scene.release(holder);
        scene.await(closed);
        assertThat(scene.events).contains("refused draining");
        scene.release(id);
    }

    @Test
    void a_closed_pool_grants_nothing_and_the_lease_may_acquire_permits_of_another() {
        scene.await(scene.pool.close(Duration.ZERO).toFuture());
        LeaseId id = scene.opened();
        assertRefused(scene.acquire(id, one("pool")));
        scene.assertHeld(scene.acquire(id, one("other")));
        scene.release(id);
    }
}
