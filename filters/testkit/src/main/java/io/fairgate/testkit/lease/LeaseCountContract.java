package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.GLOBEX;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The lists and the numbers of leases. */
abstract class LeaseCountContract extends LeaseTopic {

    LeaseCountContract(LeasesContract backend) {
        super(backend);
    }

    private void assertCount(int open, int holding, int waiting) {
        assertThat(scene.answer(leases.count())).isEqualTo(new LeaseCount(open, holding, waiting));
    }

    @Test
    void leases_are_counted_by_what_they_do_and_never_twice() {
        LeaseId holder = scene.holding(2);
        LeaseId idle = scene.opened();
        LeaseId waiting = scene.opened();
        scene.assertHeld(scene.acquire(waiting, one("other")));
        assertThat(scene.await(scene.acquire(waiting, one("pool")))).isFalse();
        assertCount(3, 2, 1);
        assertThat(scene.answer(leases.release(waiting, "pool"))).isTrue();
        assertThat(scene.answer(leases.release(waiting, "other"))).isTrue();
        assertCount(3, 1, 0);
        HeldBefore both = new HeldBefore(Map.of("pool", 1, "other", 1), Duration.ZERO, 0);
        LeaseId restored = LeaseId.random();
        assertThat(scene.answer(leases.restore(restored, LeaseHolder.of(GLOBEX, "batch"), TERM, both)))
                .isTrue();
        assertCount(4, 2, 0);
        assertThat(scene.await(scene.acquire(waiting, one("pool")))).isFalse();
        assertCount(4, 2, 1);
        scene.release(waiting, holder, idle, restored);
        assertCount(0, 0, 0);
    }

    @Test
    void each_tenant_has_a_list_of_its_own_leases() {
        LeaseId own = scene.opened();
        LeaseId others = scene.opened(GLOBEX, TERM);
        assertThat(scene.answer(leases.ids(ACME).collectList())).containsExactly(own);
        assertThat(scene.answer(leases.ids().collectList())).containsExactlyInAnyOrder(own, others);
        assertThat(scene.answer(leases.count(ACME))).isOne();
        scene.release(own, others);
        assertThat(scene.answer(leases.ids(ACME).collectList())).isEmpty();
        assertThat(scene.answer(leases.count(ACME))).isZero();
    }
}
