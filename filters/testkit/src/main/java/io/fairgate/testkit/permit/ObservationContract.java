package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import org.junit.jupiter.api.Test;

/** What a pool says about its state. */
abstract class ObservationContract extends PoolTopic {

    ObservationContract(PoolBackend backend) {
        super(backend);
    }

    @Test
    void the_number_in_flight_is_there_without_a_whole_status() {
        PermitPool pool = poolOf(3);
        assertThat(answerOf(pool.inFlight())).isZero();
        HeldPermits held = hold(pool, "a", 2);
        assertThat(answerOf(pool.inFlight())).isEqualTo(2);
        release(held);
        assertThat(answerOf(pool.inFlight())).isZero();
    }

    @Test
    void the_standing_of_one_tenant_says_the_same_as_the_whole_status() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(3), with("a", ShareSettings.ofWeight(2)));
        HeldPermits held = hold(pool, "a", 3);
        Work work = new Work();
        run(pool, "b", work);
        PoolStatus status = status(pool);
        assertThat(status.tenants()).hasSize(2);
        for (TenantStatus each : status.tenants()) {
            assertThat(answerOf(pool.standing(each.tenant())))
                    .isEqualTo(new TenantStanding(
                            new PoolTotals(3, 3, 1), each.inFlight(), each.waiting(), each.share(), each.weight()));
        }
        release(held);
        complete(work);
    }

    @Test
    void an_idle_tenant_has_a_weight_and_nothing_else_and_is_not_in_the_status() {
        TenantId a = TenantId.of("a");
        TenantStanding idle = new TenantStanding(new PoolTotals(3, 0, 0), 0, 0, 0, 2);
        PermitPool pool = poolOf(PoolSettings.ofPermits(3), with("a", ShareSettings.ofWeight(2)));
        assertThat(answerOf(pool.standing(a))).isEqualTo(idle);
        assertThat(status(pool).tenants()).isEmpty();
        release(hold(pool, "a", 1));
        assertThat(answerOf(pool.standing(a))).isEqualTo(idle);
        assertThat(status(pool).tenants())
                .allSatisfy(owes -> assertThat(owes.inFlight() + owes.waiting()).isZero());
    }
}
