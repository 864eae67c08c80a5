package io.fairgate.testkit;

import static io.fairgate.testkit.LeaseScene.TTL;
import static io.fairgate.testkit.LeaseScene.one;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.embedded.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.testkit.LeaseScene.Answer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases of permits of several pools, of which they get all at once or nothing. */
class LeasesOfSeveralPoolsTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final LeaseScene scene = new LeaseScene(nothingLeft);
    private final Leases leases = scene.leases;

    private Answer both(LeaseId id) {
        return scene.ask(id, new LeaseRequest(Map.of("pool", 2, "other", 1), Duration.ofSeconds(10), TTL));
    }

    @Test
    void a_lease_holds_permits_of_several_pools_and_gives_them_back_one_by_one() {
        LeaseId id = scene.opened();
        scene.ask(id, one("pool"));
        scene.ask(id, one("other"));
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("pool", "other");
        assertThat(leases.giveBack(id, "pool")).isTrue();
        assertThat(leases.giveBack(id, "pool")).isFalse();
        assertThat(scene.inFlight()).isZero();
        leases.release(id);
        assertThat(scene.heard)
                .containsExactly("granted 1 of pool", "granted 1 of other", "gave back pool", "RELEASED with 1");
    }

    @Test
    void several_pools_are_taken_at_once_and_nothing_is_held_meanwhile() {
        LeaseId holder = scene.opened();
        scene.ask(holder, one("other"));
        LeaseId id = scene.opened();
        Answer answer = both(id);
        assertThat(answer.held).isNull();
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.status(id).waiting())
                .satisfies(waiting ->
                        assertThat(Objects.requireNonNull(waiting).pool()).isEqualTo("other"));
        LeaseId inTheWay = scene.holding(1);
        leases.release(holder);
        assertThat(answer.held).isNull();
        assertThat(scene.inFlightOfOther()).isZero();
        assertThat(scene.status(id).waiting())
                .satisfies(waiting ->
                        assertThat(Objects.requireNonNull(waiting).pool()).isEqualTo("pool"));
        leases.release(inTheWay);
        assertThat(answer.held).isTrue();
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other", "pool");
        assertThat(scene.status(id).held())
                .extracting(LeaseStatus.Held::token)
                .containsOnly(scene.status(id).held().get(0).token());
        leases.release(id);
    }

    @Test
    void who_waits_for_several_pools_and_leaves_leaves_each_queue() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        both(id);
        leases.release(id);
        assertThat(scene.waiting()).isZero();
        leases.release(holder);
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.inFlightOfOther()).isZero();
    }

    @Test
    void of_several_pools_one_that_refuses_is_told_and_nothing_is_held() {
        LeaseId id = scene.opened();
        Answer answer = scene.ask(id, new LeaseRequest(Map.of("pool", 1, "other", 2), Duration.ofSeconds(10), TTL));
        assertThat(answer.error).isInstanceOf(PermitRefusedException.class);
        assertThat(scene.inFlight()).isZero();
        leases.release(id);
    }
}
