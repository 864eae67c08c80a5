package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.GLOBEX;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitRefusedException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Leases are restored after a restart. */
abstract class LeaseRestoreContract extends LeaseTopic {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final LeaseTerm LONG = new LeaseTerm(HOUR, LeaseTerm.LONGEST);

    LeaseRestoreContract(LeasesContract backend) {
        super(backend);
    }

    private Mono<Boolean> restore(LeaseId id, LeaseTerm term, HeldBefore before) {
        return leases.restore(id, LeaseHolder.of(ACME, "batch"), term, before);
    }

    private static HeldBefore before(Map<String, Integer> permits) {
        return new HeldBefore(permits, Duration.ZERO, 0);
    }

    @Test
    void permits_from_before_a_restart_are_held_again_even_if_none_is_free() {
        LeaseId others = scene.opened(GLOBEX, TERM);
        scene.assertHeld(scene.acquire(others, permits(2, "pool", TTL)));
        LeaseId id = LeaseId.random();
        assertThat(scene.answer(restore(id, TERM, before(Map.of("pool", 2))))).isTrue();
        assertThat(scene.answer(restore(id, TERM, before(Map.of("pool", 2))))).isFalse();
        assertThat(scene.events).containsExactly("granted 2 of pool", "restored 1");
        assertThat(scene.inFlight()).isEqualTo(4);
        scene.time.advanceBy(TTL);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.exists(others)).isFalse();
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void a_restored_lease_shows_its_holder() {
        LeaseHolder holder = new LeaseHolder(ACME, GLOBEX, "batch");
        LeaseId id = LeaseId.random();
        assertThat(scene.answer(leases.restore(id, holder, TERM, before(Map.of("pool", 1)))))
                .isTrue();
        assertThat(scene.status(id).holder()).isEqualTo(holder);
        assertThat(scene.answer(leases.count(GLOBEX))).isZero();
        scene.release(id);
    }

    @Test
    void nothing_is_restored_when_one_pool_refuses() {
        LeaseId id = LeaseId.random();
        CompletableFuture<Boolean> answer =
                restore(id, TERM, before(Map.of("other", 1, "pool", 3))).toFuture();
        assertThat(scene.error(answer)).isInstanceOf(PermitRefusedException.class);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.inFlight(scene.other)).isZero();
        assertThat(scene.events).containsExactly("refused too-large", "RELEASED with 1");
    }

    @Test
    void an_unknown_pool_is_an_error_and_opens_no_lease() {
        LeaseId id = LeaseId.random();
        CompletableFuture<Boolean> answer =
                restore(id, TERM, before(Map.of("nowhere", 1, "pool", 1))).toFuture();
        assertThat(scene.error(answer)).isInstanceOf(IllegalArgumentException.class);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void a_restore_that_was_answered_is_not_undone_when_its_caller_is_cancelled_afterwards() {
        LeaseId id = LeaseId.random();
        CompletableFuture<Boolean> answered = new CompletableFuture<>();
        var caller = restore(id, TERM, before(Map.of("pool", 1)))
                .doOnNext(answered::complete)
                .flatMap(done -> Mono.never())
                .subscribe();
        scene.assertHeld(answered);
        caller.dispose();
        assertThat(scene.status(id).held()).hasSize(1);
        scene.release(id);
    }

    @Test
    void a_restored_lease_has_held_for_as_long_as_before_and_has_a_token_larger_than_before() {
        LeaseId id = LeaseId.random();
        long token = 1L << 52;
        scene.answer(restore(id, TERM, new HeldBefore(Map.of("pool", 1), Duration.ofMinutes(7), token)));
        LeaseStatus.Held held = scene.status(id).held().get(0);
        assertThat(held.heldNanos()).isEqualTo(Duration.ofMinutes(7).toNanos());
        assertThat(held.token()).isGreaterThan(token);
        scene.release(id);
        LeaseId next = scene.holding(1);
        assertThat(scene.status(next).held().get(0).token()).isGreaterThan(held.token());
        scene.release(next);
    }

    @Test
    void a_restored_lease_is_bounded_by_the_pools_whose_permits_it_holds() {
        scene.bounds.put("other", new LeaseBounds(MINUTE, MINUTE.multipliedBy(3)));
        LeaseId id = LeaseId.random();
        assertThat(scene.answer(restore(id, LONG, before(Map.of("pool", 1, "other", 1)))))
                .isTrue();
        assertThat(scene.left(id)).isEqualTo(MINUTE);
        assertThat(scene.answer(leases.extend(id, HOUR))).isEqualTo(MINUTE);
        scene.release(id);
    }

    @Test
    void a_restored_lease_is_held_no_longer_in_all_than_one_that_was_held_all_the_time() {
        scene.bounds.put("pool", new LeaseBounds(HOUR, HOUR));
        LeaseId id = LeaseId.random();
        Map<String, Integer> one = Map.of("pool", 1);
        assertThat(scene.answer(restore(id, LONG, new HeldBefore(one, HOUR.minus(MINUTE), 0))))
                .isTrue();
        assertThat(scene.left(id)).isEqualTo(MINUTE);
        assertThat(scene.answer(leases.extend(id, HOUR))).isEqualTo(MINUTE);
        scene.release(id);
        assertThat(scene.answer(restore(id, LONG, new HeldBefore(one, HOUR, 0))))
                .isTrue();
        assertThat(scene.exists(id)).as("over already").isFalse();
    }
}
