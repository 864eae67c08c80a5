package io.fairgate.testkit;

import static io.fairgate.testkit.LeaseScene.ACME;
import static io.fairgate.testkit.LeaseScene.TERM;
import static io.fairgate.testkit.LeaseScene.TTL;
import static io.fairgate.testkit.LeaseScene.one;
import static io.fairgate.testkit.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.embedded.LeaseCount;
import io.fairgate.lease.embedded.Leases;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.LeaseScene.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The life of a lease, in virtual time: from its opening to its release or expiry, over a restart too. */
class LeasesTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final LeaseScene scene = new LeaseScene(nothingLeft);
    private final Leases leases = scene.leases;

    @Test
    void permits_are_held_until_the_lease_is_released() {
        LeaseId id = scene.holding(2);
        assertThat(scene.inFlight()).isEqualTo(2);
        assertThat(scene.status(id).held()).singleElement().satisfies(held -> {
            assertThat(held.pool()).isEqualTo("pool");
            assertThat(held.permits()).isEqualTo(2);
        });
        assertThat(leases.release(id)).isTrue();
        assertThat(leases.release(id)).isFalse();
        assertThat(scene.inFlight()).isZero();
        assertThat(leases.status(id)).isNull();
        assertThat(leases.size()).isZero();
        assertThat(scene.heard).containsExactly("granted 2 of pool", "RELEASED with 1");
    }

    @Test
    void a_silent_holder_loses_its_permits_at_the_very_moment_and_the_next_one_gets_them() {
        LeaseId silent = scene.holding(2);
        LeaseId next = scene.opened();
        Answer answer = scene.ask(next, permits(1, "pool", Duration.ofMinutes(1)));
        scene.time.advanceBy(TTL.minusNanos(1));
        assertThat(answer.held).isNull();
        scene.time.advanceBy(Duration.ofNanos(1));
        assertThat(answer.held).isTrue();
        assertThat(leases.status(silent)).isNull();
        assertThat(scene.heard).contains("EXPIRED with 1");
        leases.release(next);
    }

    @Test
    void what_is_due_is_gone_for_every_call_though_no_timer_has_rung() {
        LeaseId id = scene.opened();
        assertThat(leases.extend(id, Duration.ZERO)).isZero();
        assertThat(leases.status(id)).isNull();
        assertThat(leases.extend(id, TTL)).isNull();
        assertThat(scene.heard).containsExactly("extended for PT0S", "EXPIRED with 0");
    }

    @Test
    void an_extension_counts_from_now_on_and_ends_at_the_maximum_hold_which_counts_from_the_grant() {
        LeaseId id = scene.opened();
        scene.time.advanceBy(Duration.ofSeconds(20));
        scene.ask(id, one("pool"));
        scene.time.advanceBy(Duration.ofSeconds(29));
        for (int i = 1; i <= 9; i++) {
            assertThat(leases.extend(id, TTL)).isEqualTo(TTL);
            scene.time.advanceBy(Duration.ofSeconds(29));
        }
        assertThat(leases.extend(id, TTL)).isEqualTo(Duration.ofSeconds(10));
        scene.time.advanceBy(Duration.ofSeconds(10));
        assertThat(leases.extend(id, TTL)).isNull();
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void an_extension_may_also_shorten() {
        LeaseId first = scene.holding(1);
        LeaseId second = scene.holding(1);
        assertThat(leases.extend(second, Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
        scene.time.advanceBy(Duration.ofSeconds(1));
        assertThat(scene.inFlight()).isOne();
        assertThat(leases.status(first)).isNotNull();
        leases.release(first);
    }

    @Test
    void an_end_is_told_before_the_grant_that_it_makes_room_for() {
        LeaseId holder = scene.holding(2);
        LeaseId next = scene.opened();
        scene.ask(next, permits(2, "pool", TTL));
        leases.giveBack(holder, "pool");
        LeaseId last = scene.opened();
        scene.ask(last, permits(2, "pool", TTL));
        leases.release(next);
        assertThat(scene.heard)
                .containsExactly(
                        "granted 2 of pool",
                        "gave back pool",
                        "granted 2 of pool",
                        "RELEASED with 1",
                        "granted 2 of pool");
        leases.release(last);
        leases.release(holder);
    }

    @Test
    void they_are_counted_by_what_they_do_and_never_twice() {
        LeaseId holder = scene.holding(2);
        LeaseId idle = scene.opened();
        LeaseId waiting = scene.opened();
        scene.ask(waiting, one("other"));
        scene.ask(waiting, one("pool"));
        assertThat(leases.count()).isEqualTo(new LeaseCount(3, 2, 1));
        leases.giveBack(waiting, "pool");
        leases.giveBack(waiting, "other");
        assertThat(leases.count()).isEqualTo(new LeaseCount(3, 1, 0));
        TenantId another = TenantId.of("globex");
        leases.restore(LeaseId.random(), another, "batch", TERM, before(Map.of("pool", 1, "other", 1)))
                .subscribe();
        assertThat(leases.count()).isEqualTo(new LeaseCount(4, 2, 0));
        scene.ask(waiting, one("pool"));
        leases.ids().forEach(leases::release);
        assertThat(leases.release(idle)).isFalse();
        assertThat(leases.status(holder)).isNull();
        assertThat(leases.count()).isEqualTo(new LeaseCount(0, 0, 0));
    }

    @Test
    void a_pool_that_refuses_is_told_and_the_lease_may_ask_again() {
        LeaseId id = scene.opened();
        assertThat(scene.ask(id, permits(3, "pool", TTL)).error)
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(RefusalReason.TOO_LARGE));
        assertThat(scene.ask(id, permits(2, "pool", TTL)).held).isTrue();
        assertThat(scene.heard).containsExactly("refused too-large", "granted 2 of pool");
        leases.release(id);
    }

    @Test
    void a_check_may_refuse_before_anything_is_asked() {
        LeaseId id = scene.opened();
        Answer answer = new Answer();
        answer.call = leases.take(id, one("pool"), status -> {
                    throw new IllegalStateException("level");
                })
                .subscribe(held -> answer.held = held, e -> answer.error = e);
        assertThat(answer.error).hasMessage("level");
        assertThat(scene.inFlight()).isZero();
        leases.release(id);
    }

    @Test
    void a_later_grant_has_a_larger_fencing_token() {
        long last = 0;
        for (int i = 0; i < 5; i++) {
            LeaseId id = scene.holding(1);
            long token = scene.status(id).held().get(0).token();
            assertThat(token).isGreaterThan(last);
            last = token;
            leases.release(id);
        }
    }

    @Test
    void an_id_is_opened_once() {
        LeaseId id = scene.opened();
        assertThat(leases.open(id, TenantId.of("globex"), "thief", TERM)).isFalse();
        assertThat(scene.status(id).tenant()).isEqualTo(ACME);
        leases.release(id);
        assertThat(leases.ids()).isEmpty();
    }

    @Test
    void each_tenant_has_a_list_of_its_own_leases() {
        LeaseId own = scene.opened();
        LeaseId others = LeaseId.random();
        leases.open(others, TenantId.of("globex"), "batch", TERM);
        assertThat(leases.ids(ACME)).containsExactly(own);
        assertThat(leases.ids()).containsExactlyInAnyOrder(own, others);
        List.of(own, others).forEach(leases::release);
        assertThat(leases.ids(ACME)).isEmpty();
    }

    @Test
    void what_was_held_before_a_restart_is_held_again_though_there_may_be_none_left() {
        LeaseId others = LeaseId.random();
        leases.open(others, TenantId.of("globex"), "", TERM);
        assertThat(scene.ask(others, permits(2, "pool", TTL)).held).isTrue();
        LeaseId id = LeaseId.random();
        List<Boolean> restored = new ArrayList<>();
        leases.restore(id, ACME, "batch", TERM, before(Map.of("pool", 2))).subscribe(restored::add);
        leases.restore(id, ACME, "batch", TERM, before(Map.of("pool", 2))).subscribe(restored::add);
        assertThat(restored).containsExactly(true, false);
        assertThat(scene.heard).containsExactly("granted 2 of pool", "restored 1");
        assertThat(scene.inFlight()).isEqualTo(4);
        scene.time.advanceBy(TTL);
        assertThat(scene.inFlight()).isZero();
    }

    @Test
    void nothing_at_all_is_restored_when_one_pool_refuses() {
        LeaseId id = LeaseId.random();
        StepVerifier.create(leases.restore(id, ACME, "holder", TERM, before(Map.of("other", 1, "pool", 3))))
                .expectError(PermitRefusedException.class)
                .verify();
        assertThat(leases.status(id)).isNull();
        assertThat(scene.inFlightOfOther()).isZero();
        assertThat(scene.heard).containsExactly("refused too-large", "RELEASED with 1");
    }

    @Test
    void a_restore_that_is_done_is_not_undone_when_its_caller_is_cancelled_afterwards() {
        LeaseId id = LeaseId.random();
        leases.restore(id, ACME, "batch", TERM, before(Map.of("pool", 1)))
                .flatMap(done -> Mono.never())
                .subscribe()
                .dispose();
        assertThat(scene.status(id).held()).hasSize(1);
        leases.release(id);
    }

    @Test
    void a_restored_lease_has_held_for_as_long_as_before_and_has_a_token_larger_than_before() {
        LeaseId id = LeaseId.random();
        long token = 1L << 52;
        HeldBefore before = new HeldBefore(Map.of("pool", 1), Duration.ofMinutes(7), token);
        leases.restore(id, ACME, "holder", TERM, before).subscribe();
        LeaseStatus.Held held = scene.status(id).held().get(0);
        assertThat(held.heldNanos()).isEqualTo(Duration.ofMinutes(7).toNanos());
        assertThat(held.token()).isGreaterThan(token);
        leases.release(id);
        LeaseId next = scene.holding(1);
        assertThat(scene.status(next).held().get(0).token()).isGreaterThan(held.token());
        leases.release(next);
    }

    @Test
    void a_lease_that_gives_one_place_back_keeps_waiting_for_the_other_pools() {
        LeaseId all = scene.holding(2);
        LeaseId waiting = scene.opened();
        scene.ask(waiting, new LeaseRequest(Map.of("pool", 2, "other", 1), Duration.ZERO, null));
        assertThat(leases.giveBack(waiting, "other")).isTrue();
        assertThat(scene.status(waiting).waiting())
                .isNotNull()
                .satisfies(left -> assertThat(left.permits()).containsExactlyEntriesOf(Map.of("pool", 2)));
        leases.release(all);
        assertThat(scene.status(waiting).held()).hasSize(1);
        leases.release(waiting);
    }

    private static HeldBefore before(Map<String, Integer> permits) {
        return new HeldBefore(permits, Duration.ZERO, 0);
    }

    @Test
    void a_pool_that_is_not_there_is_an_error_and_changes_nothing() {
        LeaseId id = scene.opened();
        assertThat(scene.ask(id, one("nowhere")).error).isInstanceOf(IllegalArgumentException.class);
        assertThat(scene.status(id).waiting()).isNull();
        leases.release(id);
        assertThatThrownBy(() -> LeaseRequest.of("pool", 0, TTL, TTL))
                .hasMessage("permits: 0 (expected: 1 to 1000000)");
    }

    @Test
    void an_id_is_written_as_32_digits_and_read_back() {
        LeaseId id = new LeaseId(1, -1);
        assertThat(id).hasToString("0000000000000001ffffffffffffffff");
        assertThat(LeaseId.parse(id.toString())).isEqualTo(id);
        assertThat(LeaseId.parse("0000000000000001fffffffffffffffg")).isNull();
        assertThat(LeaseId.parse("1")).isNull();
        assertThat(LeaseId.parse("0000000000000001FFFFFFFFFFFFFFFF")).isNull();
    }
}
