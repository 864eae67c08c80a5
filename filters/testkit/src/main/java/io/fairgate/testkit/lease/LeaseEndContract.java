package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.GLOBEX;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseEndedException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseIds;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Leases that have ended are remembered for a while: no lease of their tenant gets their id. */
abstract class LeaseEndContract extends LeaseTopic {

    private static final Duration REMEMBERED = Duration.ofMinutes(3);
    private static final Duration MOMENT = Duration.ofMillis(1);
    private static final LeaseTerm TO_REMEMBER = new LeaseTerm(TTL, Duration.ofMinutes(5), REMEMBERED);
    private static final HeldBefore BEFORE = new HeldBefore(Map.of("pool", 1), Duration.ZERO, 0);

    LeaseEndContract(LeasesContract backend) {
        super(backend);
    }

    private LeaseId opened() {
        return scene.opened(ACME, TO_REMEMBER);
    }

    private LeaseId holding() {
        LeaseId id = opened();
        scene.assertHeld(scene.acquire(id, one("pool")));
        return id;
    }

    private Mono<Boolean> open(LeaseId id, TenantId tenant) {
        return leases.open(id, LeaseHolder.of(tenant, "next"), TERM);
    }

    private Mono<Boolean> restore(LeaseId id, HeldBefore before) {
        return leases.restore(id, LeaseHolder.of(ACME, "next"), TO_REMEMBER, before);
    }

    private void assertEnded(LeaseId id) {
        assertThat(scene.error(open(id, ACME).toFuture())).isInstanceOf(LeaseEndedException.class);
        assertThat(scene.error(restore(id, BEFORE).toFuture())).isInstanceOf(LeaseEndedException.class);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.inFlight()).isZero();
    }

    private void assertFree(LeaseId id) {
        assertThat(scene.answer(open(id, ACME))).isTrue();
        scene.release(id);
    }

    private void assertRememberedFrom(LeaseId id) {
        assertEnded(id);
        scene.time.advanceBy(REMEMBERED.minus(MOMENT));
        assertEnded(id);
        scene.time.advanceBy(MOMENT);
        assertFree(id);
    }

    @Test
    void a_lease_that_was_released_with_permits_is_remembered_and_its_id_is_free_afterwards() {
        LeaseId id = holding();
        assertThat(scene.answer(open(id, ACME))).as("while it is open").isFalse();
        scene.release(id);
        assertRememberedFrom(id);
    }

    @Test
    void a_lease_that_expired_with_permits_is_remembered() {
        LeaseId id = holding();
        scene.time.advanceBy(TTL);
        assertRememberedFrom(id);
    }

    @Test
    void a_lease_that_ended_while_it_waited_is_remembered() {
        LeaseId holder = scene.holding(2);
        LeaseId id = opened();
        assertThat(scene.await(scene.acquire(id, one("pool")))).isFalse();
        scene.release(id, holder);
        assertRememberedFrom(id);
    }

    @Test
    void a_lease_that_ended_without_permits_and_outside_a_queue_is_not_remembered() {
        LeaseId idle = opened();
        scene.release(idle);
        assertFree(idle);
        LeaseId id = holding();
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        scene.time.advanceBy(TTL);
        assertThat(scene.exists(id)).isFalse();
        assertFree(id);
    }

    @Test
    void a_lease_that_is_not_to_be_remembered_leaves_its_id_at_once() {
        LeaseId id = scene.holding(1);
        scene.release(id);
        assertThat(scene.answer(restore(id, BEFORE))).isTrue();
        scene.time.advanceBy(TTL);
        assertEnded(id);
    }

    @Test
    void an_ended_lease_does_not_concern_other_tenants() {
        LeaseId id = holding();
        scene.release(id);
        assertThat(scene.answer(open(id, GLOBEX))).isTrue();
        scene.release(id);
        assertEnded(id);
    }

    @Test
    void a_buried_lease_cannot_be_opened_or_restored_for_so_long() {
        LeaseId id = LeaseId.random();
        scene.answer(leases.bury(id, ACME, REMEMBERED));
        assertRememberedFrom(id);
    }

    @Test
    void a_burial_happens_at_the_subscription() {
        LeaseId id = LeaseId.random();
        Mono<Void> bury = leases.bury(id, ACME, REMEMBERED);
        assertFree(id);
        scene.answer(bury);
        assertEnded(id);
    }

    @Test
    void an_open_lease_cannot_be_buried() {
        LeaseId id = opened();
        scene.answer(leases.bury(id, ACME, REMEMBERED));
        scene.assertHeld(scene.acquire(id, one("pool")));
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        scene.release(id);
        assertFree(id);
    }

    @Test
    void a_restore_that_was_refused_may_be_repeated() {
        LeaseId id = LeaseId.random();
        HeldBefore tooMany = new HeldBefore(Map.of("other", 1, "pool", 3), Duration.ZERO, 0);
        CompletableFuture<Boolean> refused = restore(id, tooMany).toFuture();
        assertThat(scene.error(refused)).isInstanceOf(PermitRefusedException.class);
        assertThat(scene.answer(restore(id, BEFORE))).isTrue();
        scene.release(id);
        assertEnded(id);
    }

    @Test
    void the_memory_makes_the_same_id_of_the_same_text_and_another_one_of_another() {
        LeaseIds ids = Objects.requireNonNull(scene.answer(leases.memory())).ids();
        LeaseIds again = Objects.requireNonNull(scene.answer(leases.memory())).ids();
        assertThat(again.of("nightly")).isEqualTo(ids.of("nightly"));
        assertThat(ids.of("weekly")).isNotEqualTo(ids.of("nightly"));
    }

    @Test
    void the_memory_grows_older() {
        Duration before = Objects.requireNonNull(scene.answer(leases.memory())).age();
        scene.time.advanceBy(TTL);
        assertThat(Objects.requireNonNull(scene.answer(leases.memory())).age().minus(before))
                .isEqualTo(TTL);
    }
}
