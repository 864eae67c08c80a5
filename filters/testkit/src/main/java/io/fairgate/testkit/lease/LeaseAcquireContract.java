package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.GLOBEX;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Leases are opened, and acquire permits that are free. */
abstract class LeaseAcquireContract extends LeaseTopic {

    LeaseAcquireContract(LeasesContract backend) {
        super(backend);
    }

    @Test
    void nothing_happens_before_the_subscription_and_each_subscription_is_a_call() {
        LeaseId id = LeaseId.random();
        Mono<Boolean> open = leases.open(id, LeaseHolder.of(ACME, "batch"), TERM);
        Mono<Boolean> acquire = leases.acquire(id, one("pool"));
        Mono<Boolean> release = leases.release(id);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.answer(open)).isTrue();
        assertThat(scene.answer(open)).isFalse();
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.answer(acquire)).isTrue();
        assertThat(scene.answer(acquire)).isTrue();
        assertThat(scene.inFlight()).isOne();
        assertThat(scene.answer(release)).isTrue();
        assertThat(scene.answer(release)).isFalse();
    }

    @Test
    void an_id_is_opened_once() {
        LeaseId id = scene.opened();
        assertThat(scene.answer(leases.open(id, LeaseHolder.of(GLOBEX, "thief"), TERM)))
                .isFalse();
        assertThat(scene.status(id).tenant()).isEqualTo(ACME);
        scene.release(id);
    }

    /** Many unknown ids share one tenant. */
    @Test
    void a_lease_shows_its_holder_and_counts_for_the_tenant_and_not_for_the_owner() {
        LeaseHolder holder = new LeaseHolder(ACME, GLOBEX, "batch");
        LeaseId id = LeaseId.random();
        assertThat(scene.answer(leases.open(id, holder, TERM))).isTrue();
        scene.assertHeld(scene.acquire(id, one("pool")));
        assertThat(scene.status(id).holder()).isEqualTo(holder);
        assertThat(scene.status(id).tenant()).isEqualTo(ACME);
        assertThat(scene.answer(leases.ids(ACME).collectList())).containsExactly(id);
        assertThat(scene.answer(leases.count(GLOBEX))).isZero();
        assertThat(Objects.requireNonNull(scene.answer(scene.pool.standing(ACME)))
                        .inFlight())
                .isOne();
        scene.release(id);
    }

    @Test
    void free_permits_are_held_at_once() {
        LeaseId id = scene.holding(2);
        assertThat(scene.inFlight()).isEqualTo(2);
        LeaseStatus status = scene.status(id);
        assertThat(status.waiting()).isNull();
        assertThat(status.held()).singleElement().satisfies(held -> {
            assertThat(held.pool()).isEqualTo("pool");
            assertThat(held.permits()).isEqualTo(2);
        });
        assertThat(scene.events).containsExactly("granted 2 of pool");
        scene.release(id);
    }

    @Test
    void a_lease_that_does_not_exist_acquires_nothing() {
        assertThat(scene.error(scene.acquire(LeaseId.random(), one("pool")))).isInstanceOf(LeaseGoneException.class);
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void a_pool_that_refuses_is_reported_and_the_lease_may_ask_again() {
        LeaseId id = scene.opened();
        assertThat(scene.error(scene.acquire(id, permits(3, "pool", TTL))))
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(RefusalReason.TOO_LARGE));
        scene.assertHeld(scene.acquire(id, permits(2, "pool", TTL)));
        assertThat(scene.events).containsExactly("refused too-large", "granted 2 of pool");
        scene.release(id);
    }

    @Test
    void a_look_at_the_lease_may_refuse_before_anything_is_requested() {
        LeaseId id = scene.opened();
        assertThat(scene.error(leases.acquire(id, one("pool"), status -> {
                            throw new IllegalStateException("level");
                        })
                        .toFuture()))
                .hasMessage("level");
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.events).isEmpty();
        scene.release(id);
    }

    @Test
    void a_look_at_the_lease_sees_it_as_it_is_before_the_request() {
        LeaseId id = scene.holding(1);
        List<LeaseStatus> seen = new ArrayList<>();
        assertThat(scene.answer(leases.acquire(id, one("other"), status -> {
                    seen.add(status);
                    return null;
                })))
                .isTrue();
        assertThat(seen.get(seen.size() - 1).held())
                .extracting(LeaseStatus.Held::pool)
                .containsExactly("pool");
        scene.release(id);
    }

    @Test
    void a_later_grant_has_a_larger_fencing_token() {
        long last = 0;
        for (int i = 0; i < 5; i++) {
            LeaseId id = scene.holding(1);
            long token = scene.status(id).held().get(0).token();
            assertThat(token).isGreaterThan(last);
            last = token;
            scene.release(id);
        }
    }

    @Test
    void an_unknown_pool_is_an_error_and_changes_nothing() {
        LeaseId id = scene.opened();
        assertThat(scene.error(scene.acquire(id, one("nowhere")))).isInstanceOf(IllegalArgumentException.class);
        assertThat(scene.status(id).waiting()).isNull();
        scene.release(id);
    }

    @Test
    void the_time_to_live_of_a_request_counts_from_the_grant() {
        LeaseId id = scene.opened();
        scene.time.advanceBy(Duration.ofSeconds(20));
        scene.assertHeld(scene.acquire(id, one("pool")));
        assertThat(scene.left(id)).isEqualTo(TTL);
        scene.release(id);
    }
}
