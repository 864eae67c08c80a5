package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.fairness.TenantShares;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.PoolDemand;
import io.fairgate.permit.EmbeddedPermitPool;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Leases over embedded pools, in virtual time. */
class LeasesTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final LeaseTerm TERM = new LeaseTerm(TTL, Duration.ofMinutes(5));

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final EmbeddedPermitPool pool = pool("pool", 2);
    private final EmbeddedPermitPool other = pool("other", 1);
    private final List<String> heard = new ArrayList<>();
    private boolean believeEverything = true;
    private final Leases leases = new Leases(new Pools(), time, new FencingTokens(() -> Instant.EPOCH), new Heard());

    private final class Pools implements LeasedPools {
        @Override
        public @Nullable PermitPool find(String name) {
            return name.equals("pool") ? pool : name.equals("other") ? other : null;
        }

        @Override
        public boolean believeEverything() {
            return believeEverything;
        }
    }

    private EmbeddedPermitPool pool(String name, int permits) {
        return nothingLeft.watch(new EmbeddedPermitPool(
                name, PoolSettings.ofPermits(permits).withMaxWaiting(3), TenantShares.EQUAL, time, PoolListener.NONE));
    }

    private final class Heard implements LeaseListener {
        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            heard.add("granted %d of %s".formatted(permits.permits(), permits.pool()));
        }

        @Override
        public void restored(LeaseStatus lease) {
            heard.add("restored " + lease.held().size());
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            heard.add("refused " + reason.label());
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            heard.add("extended for " + ttl);
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            heard.add(how + " with " + lease.held().size());
        }

        @Override
        public void gaveBack(LeaseStatus lease, LeaseStatus.Held permits) {
            heard.add("gave back " + permits.pool());
        }
    }

    /** What became of one call. */
    private static final class Answer {
        @Nullable
        Boolean held;

        @Nullable
        Throwable error;

        Disposable call = Disposables.disposed();
    }

    private Answer ask(LeaseId id, LeaseRequest request) {
        Answer answer = new Answer();
        answer.call =
                leases.take(id, request, status -> {}).subscribe(held -> answer.held = held, e -> answer.error = e);
        return answer;
    }

    private static LeaseRequest one(String pool) {
        return permits(1, pool, Duration.ZERO);
    }

    private static LeaseRequest permits(int permits, String pool, Duration patience) {
        return LeaseRequest.of(pool, permits, patience, TTL);
    }

    private LeaseId opened() {
        LeaseId id = LeaseId.random();
        assertThat(leases.open(id, ACME, "batch", TERM)).isTrue();
        return id;
    }

    private LeaseId holding(int permits) {
        LeaseId id = opened();
        assertThat(ask(id, permits(permits, "pool", Duration.ZERO)).held).isTrue();
        return id;
    }

    private LeaseStatus status(LeaseId id) {
        return Objects.requireNonNull(leases.status(id));
    }

    private int inFlight() {
        return NothingLeft.statusOf(pool).inFlight();
    }

    private int waiting() {
        return NothingLeft.statusOf(pool).waiting();
    }

    @Test
    void permits_are_held_until_the_lease_is_released() {
        LeaseId id = holding(2);
        assertThat(inFlight()).isEqualTo(2);
        assertThat(status(id).held()).singleElement().satisfies(held -> {
            assertThat(held.pool()).isEqualTo("pool");
            assertThat(held.permits()).isEqualTo(2);
        });
        assertThat(leases.release(id)).isTrue();
        assertThat(leases.release(id)).isFalse();
        assertThat(inFlight()).isZero();
        assertThat(leases.status(id)).isNull();
        assertThat(leases.size()).isZero();
        assertThat(heard).containsExactly("granted 2 of pool", "RELEASED with 1");
    }

    @Test
    void a_silent_holder_loses_its_permits_at_the_very_moment_and_the_next_one_gets_them() {
        LeaseId silent = holding(2);
        LeaseId next = opened();
        Answer answer = ask(next, permits(1, "pool", Duration.ofMinutes(1)));
        time.advanceBy(TTL.minusNanos(1));
        assertThat(answer.held).isNull();
        time.advanceBy(Duration.ofNanos(1));
        assertThat(answer.held).isTrue();
        assertThat(leases.status(silent)).isNull();
        assertThat(heard).contains("EXPIRED with 1");
        leases.release(next);
    }

    @Test
    void what_is_due_is_gone_for_every_call_though_no_timer_has_rung() {
        LeaseId id = opened();
        assertThat(leases.extend(id, Duration.ZERO)).isZero();
        assertThat(leases.status(id)).isNull();
        assertThat(leases.extend(id, TTL)).isNull();
        assertThat(heard).containsExactly("extended for PT0S", "EXPIRED with 0");
    }

    @Test
    void an_extension_counts_from_now_on_and_ends_at_the_maximum_hold_which_counts_from_the_grant() {
        LeaseId id = opened();
        time.advanceBy(Duration.ofSeconds(20));
        ask(id, one("pool"));
        time.advanceBy(Duration.ofSeconds(29));
        for (int i = 1; i <= 9; i++) {
            assertThat(leases.extend(id, TTL)).isEqualTo(TTL);
            time.advanceBy(Duration.ofSeconds(29));
        }
        assertThat(leases.extend(id, TTL)).isEqualTo(Duration.ofSeconds(10));
        time.advanceBy(Duration.ofSeconds(10));
        assertThat(leases.extend(id, TTL)).isNull();
        assertThat(inFlight()).isZero();
    }

    @Test
    void an_extension_may_also_shorten() {
        LeaseId first = holding(1);
        LeaseId second = holding(1);
        assertThat(leases.extend(second, Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
        time.advanceBy(Duration.ofSeconds(1));
        assertThat(inFlight()).isOne();
        assertThat(leases.status(first)).isNotNull();
        leases.release(first);
    }

    @Test
    void an_end_is_told_before_the_grant_that_it_makes_room_for() {
        LeaseId holder = holding(2);
        LeaseId next = opened();
        ask(next, permits(2, "pool", TTL));
        leases.giveBack(holder, "pool");
        LeaseId last = opened();
        ask(last, permits(2, "pool", TTL));
        leases.release(next);
        assertThat(heard)
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
    void it_is_told_how_long_a_grant_was_waited_for() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        ask(id, one("pool"));
        time.advanceBy(Duration.ofSeconds(3));
        leases.release(holder);
        time.advanceBy(Duration.ofSeconds(2));
        assertThat(status(id).held()).singleElement().satisfies(held -> {
            assertThat(held.waitedNanos()).isEqualTo(Duration.ofSeconds(3).toNanos());
            assertThat(held.heldNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
        });
        leases.release(id);
    }

    @Test
    void they_are_counted_by_what_they_do_and_never_twice() {
        LeaseId holder = holding(2);
        LeaseId idle = opened();
        LeaseId waiting = opened();
        ask(waiting, one("other"));
        ask(waiting, one("pool"));
        assertThat(leases.count()).isEqualTo(new LeaseCount(3, 2, 1));
        leases.giveBack(waiting, "pool");
        leases.giveBack(waiting, "other");
        assertThat(leases.count()).isEqualTo(new LeaseCount(3, 1, 0));
        leases.restore(LeaseId.random(), ACME, "batch", TERM, Map.of("pool", 1, "other", 1))
                .subscribe();
        assertThat(leases.count()).isEqualTo(new LeaseCount(4, 2, 0));
        ask(waiting, one("pool"));
        leases.ids().forEach(leases::release);
        assertThat(leases.release(idle)).isFalse();
        assertThat(leases.status(holder)).isNull();
        assertThat(leases.count()).isEqualTo(new LeaseCount(0, 0, 0));
    }

    @Test
    void who_asks_again_keeps_its_place() {
        LeaseId holder = holding(2);
        LeaseId first = opened();
        LeaseId second = opened();
        assertThat(ask(first, one("pool")).held).isFalse();
        assertThat(ask(second, one("pool")).held).isFalse();
        assertThat(waiting()).isEqualTo(2);
        time.advanceBy(Duration.ofSeconds(29));
        Answer again = ask(first, permits(1, "pool", Duration.ofSeconds(10)));
        assertThat(waiting()).isEqualTo(2);
        assertThat(status(first).waiting())
                .isEqualTo(new LeaseStatus.Waiting(
                        Map.of("pool", 1), "pool", 1, Duration.ofSeconds(29).toNanos()));
        assertThat(status(second).waiting())
                .extracting(w -> Objects.requireNonNull(w).place())
                .isEqualTo(2);
        assertThat(leases.demand("pool"))
                .isEqualTo(new PoolDemand(2, 2, Duration.ofSeconds(29).toNanos()));
        leases.giveBack(holder, "pool");
        assertThat(again.held).isTrue();
        assertThat(status(first).leftNanos()).isEqualTo(TTL.toNanos());
        List.of(holder, first, second).forEach(leases::release);
    }

    @Test
    void the_answer_is_not_yet_when_the_patience_of_the_caller_ends_and_the_place_stays_for_the_ttl() {
        LeaseId holder = holding(2);
        leases.extend(holder, Duration.ofMinutes(4));
        LeaseId id = opened();
        Answer answer = ask(id, permits(1, "pool", Duration.ofSeconds(40)));
        time.advanceBy(Duration.ofSeconds(40));
        assertThat(answer.held).isFalse();
        time.advanceBy(TTL.minusNanos(1));
        assertThat(waiting()).isOne();
        time.advanceBy(Duration.ofNanos(1));
        assertThat(waiting()).isZero();
        assertThat(leases.status(id)).isNull();
        leases.release(holder);
    }

    @Test
    void a_caller_that_leaves_loses_nothing_of_the_lease() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        Answer answer = ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        answer.call.dispose();
        assertThat(waiting()).isOne();
        leases.release(holder);
        assertThat(status(id).held()).hasSize(1);
        assertThat(answer.held).isNull();
        leases.release(id);
    }

    @Test
    void who_waits_for_a_lease_that_ends_is_told_at_once() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        Answer one = ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        Answer two = ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        leases.release(id);
        assertThat(one.error).isInstanceOf(LeaseGoneException.class);
        assertThat(two.error).isInstanceOf(LeaseGoneException.class);
        assertThat(waiting()).isZero();
        assertThat(ask(id, one("pool")).error).isInstanceOf(LeaseGoneException.class);
        leases.release(holder);
    }

    @Test
    void a_pool_that_refuses_is_told_and_the_lease_may_ask_again() {
        LeaseId id = opened();
        assertThat(ask(id, permits(3, "pool", TTL)).error)
                .isInstanceOfSatisfying(
                        PermitRefusedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(RefusalReason.TOO_LARGE));
        assertThat(ask(id, permits(2, "pool", TTL)).held).isTrue();
        assertThat(heard).containsExactly("refused too-large", "granted 2 of pool");
        leases.release(id);
    }

    @Test
    void a_lease_holds_permits_of_several_pools_and_gives_them_back_one_by_one() {
        LeaseId id = opened();
        ask(id, one("pool"));
        ask(id, one("other"));
        assertThat(status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("pool", "other");
        assertThat(leases.giveBack(id, "pool")).isTrue();
        assertThat(leases.giveBack(id, "pool")).isFalse();
        assertThat(inFlight()).isZero();
        leases.release(id);
        assertThat(heard)
                .containsExactly("granted 1 of pool", "granted 1 of other", "gave back pool", "RELEASED with 1");
    }

    private Answer both(LeaseId id) {
        return ask(id, new LeaseRequest(Map.of("pool", 2, "other", 1), Duration.ofSeconds(10), TTL));
    }

    @Test
    void several_pools_are_taken_at_once_and_nothing_is_held_meanwhile() {
        LeaseId holder = opened();
        ask(holder, one("other"));
        LeaseId id = opened();
        Answer answer = both(id);
        assertThat(answer.held).isNull();
        assertThat(inFlight()).isZero();
        assertThat(status(id).waiting())
                .satisfies(waiting ->
                        assertThat(Objects.requireNonNull(waiting).pool()).isEqualTo("other"));
        LeaseId inTheWay = holding(1);
        leases.release(holder);
        assertThat(answer.held).isNull();
        assertThat(NothingLeft.statusOf(other).inFlight()).isZero();
        assertThat(status(id).waiting())
                .satisfies(waiting ->
                        assertThat(Objects.requireNonNull(waiting).pool()).isEqualTo("pool"));
        leases.release(inTheWay);
        assertThat(answer.held).isTrue();
        assertThat(status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other", "pool");
        assertThat(status(id).held())
                .extracting(LeaseStatus.Held::token)
                .containsOnly(status(id).held().get(0).token());
        leases.release(id);
    }

    @Test
    void who_waits_for_several_pools_and_leaves_leaves_each_queue() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        both(id);
        leases.release(id);
        assertThat(waiting()).isZero();
        leases.release(holder);
        assertThat(inFlight()).isZero();
        assertThat(NothingLeft.statusOf(other).inFlight()).isZero();
    }

    @Test
    void of_several_pools_one_that_refuses_is_told_and_nothing_is_held() {
        LeaseId id = opened();
        Answer answer = ask(id, new LeaseRequest(Map.of("pool", 1, "other", 2), Duration.ofSeconds(10), TTL));
        assertThat(answer.error).isInstanceOf(PermitRefusedException.class);
        assertThat(inFlight()).isZero();
        leases.release(id);
    }

    @Test
    void a_place_in_the_queue_can_be_given_back_alone() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        Answer answer = ask(id, permits(1, "pool", TTL));
        assertThat(leases.giveBack(id, "pool")).isTrue();
        assertThat(waiting()).isZero();
        assertThat(answer.held).isFalse();
        assertThat(leases.status(id)).isNotNull();
        leases.release(id);
        leases.release(holder);
    }

    @Test
    void it_waits_for_one_pool_at_a_time() {
        LeaseId holder = holding(2);
        LeaseId id = opened();
        ask(id, one("pool"));
        assertThat(ask(id, one("other")).error).isInstanceOf(IllegalStateException.class);
        leases.release(id);
        leases.release(holder);
    }

    @Test
    void a_check_may_refuse_before_anything_is_asked() {
        LeaseId id = opened();
        Answer answer = new Answer();
        answer.call = leases.take(id, one("pool"), status -> {
                    throw new IllegalStateException("level");
                })
                .subscribe(held -> answer.held = held, e -> answer.error = e);
        assertThat(answer.error).hasMessage("level");
        assertThat(inFlight()).isZero();
        leases.release(id);
    }

    @Test
    void a_later_grant_has_a_larger_fencing_token() {
        long last = 0;
        for (int i = 0; i < 5; i++) {
            LeaseId id = holding(1);
            long token = status(id).held().get(0).token();
            assertThat(token).isGreaterThan(last);
            last = token;
            leases.release(id);
        }
    }

    @Test
    void an_id_is_opened_once() {
        LeaseId id = opened();
        assertThat(leases.open(id, TenantId.of("globex"), "thief", TERM)).isFalse();
        assertThat(status(id).tenant()).isEqualTo(ACME);
        leases.release(id);
        assertThat(leases.ids()).isEmpty();
    }

    @Test
    void the_place_in_the_queue_is_right_whoever_leaves() {
        EmbeddedPermitPool wide = nothingLeft.watch(
                new EmbeddedPermitPool("wide", PoolSettings.ofPermits(1), TenantShares.EQUAL, time, PoolListener.NONE));
        Leases many =
                new Leases(Map.of("wide", wide)::get, time, new FencingTokens(() -> Instant.EPOCH), LeaseListener.NONE);
        Random random = new Random(7);
        List<LeaseId> inOrder = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            LeaseId id = LeaseId.random();
            many.open(id, ACME, "batch", TERM);
            many.take(id, one("wide"), status -> {}).subscribe();
            inOrder.add(id);
            if (random.nextInt(3) == 0) {
                many.release(inOrder.remove(1 + random.nextInt(inOrder.size() - 1)));
            }
            for (int place = 1; place < inOrder.size(); place++) {
                assertThat(Objects.requireNonNull(many.status(inOrder.get(place)))
                                .waiting())
                        .extracting(waiting -> Objects.requireNonNull(waiting).place())
                        .isEqualTo(place);
            }
        }
        inOrder.forEach(many::release);
    }

    @Test
    void each_tenant_has_a_list_of_its_own_leases() {
        LeaseId own = opened();
        LeaseId others = LeaseId.random();
        leases.open(others, TenantId.of("globex"), "batch", TERM);
        assertThat(leases.ids(ACME)).containsExactly(own);
        assertThat(leases.ids()).containsExactlyInAnyOrder(own, others);
        List.of(own, others).forEach(leases::release);
        assertThat(leases.ids(ACME)).isEmpty();
    }

    @Test
    void when_a_release_is_over_the_next_one_holds_what_came_back() {
        VirtualTimeScheduler nobodyElseRuns = VirtualTimeScheduler.create(true);
        EmbeddedPermitPool single = new EmbeddedPermitPool(
                "single", PoolSettings.ofPermits(1), TenantShares.EQUAL, nobodyElseRuns, PoolListener.NONE);
        Leases alone = new Leases(
                Map.of("single", single)::get, time, new FencingTokens(() -> Instant.EPOCH), LeaseListener.NONE);
        LeaseId holder = LeaseId.random();
        LeaseId next = LeaseId.random();
        for (LeaseId id : List.of(holder, next)) {
            alone.open(id, ACME, "batch", TERM);
            alone.take(id, one("single"), status -> {}).subscribe();
        }
        alone.release(holder);
        assertThat(Objects.requireNonNull(alone.status(next)).held()).hasSize(1);
        alone.release(next);
    }

    @Test
    void what_was_held_before_a_restart_is_held_again_though_there_may_be_none_left() {
        LeaseId holder = holding(2);
        LeaseId id = LeaseId.random();
        List<Boolean> restored = new ArrayList<>();
        leases.restore(id, ACME, "batch", TERM, Map.of("pool", 2)).subscribe(restored::add);
        leases.restore(id, ACME, "batch", TERM, Map.of("pool", 2)).subscribe(restored::add);
        assertThat(restored).containsExactly(true, false);
        assertThat(heard).containsExactly("granted 2 of pool", "restored 1");
        assertThat(inFlight()).isEqualTo(4);
        time.advanceBy(TTL);
        assertThat(inFlight()).isZero();
        assertThat(leases.status(holder)).isNull();
    }

    @Test
    void who_is_not_believed_restores_nothing_at_all_when_one_pool_refuses() {
        believeEverything = false;
        LeaseId id = LeaseId.random();
        StepVerifier.create(leases.restore(id, ACME, "holder", TERM, new TreeMap<>(Map.of("other", 1, "pool", 3))))
                .expectError(PermitRefusedException.class)
                .verify();
        assertThat(leases.status(id)).isNull();
        assertThat(NothingLeft.statusOf(other).inFlight()).isZero();
        assertThat(heard).containsExactly("refused too-large", "RELEASED with 1");
    }

    @Test
    void of_many_who_wait_for_the_same_the_latest_few_are_told_and_the_others_may_ask_again() {
        LeaseId first = LeaseId.random();
        LeaseId second = LeaseId.random();
        leases.open(first, ACME, "first", TERM);
        leases.open(second, ACME, "second", TERM);
        LeaseRequest two = LeaseRequest.of("pool", 2, TTL, null);
        assertThat(leases.take(first, two, status -> {}).block()).isTrue();
        List<CompletableFuture<Boolean>> callers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            callers.add(leases.take(second, two, status -> {}).toFuture());
        }
        assertThat(callers.get(0)).isCompletedWithValue(false);
        assertThat(callers.get(1)).isCompletedWithValue(false);
        assertThat(callers.get(2)).isNotDone();
        callers.get(5).cancel(true);
        leases.release(first);
        for (CompletableFuture<Boolean> caller : callers.subList(2, 5)) {
            assertThat(caller).isCompletedWithValue(true);
        }
        leases.release(second);
    }

    @Test
    void a_pool_that_is_not_there_is_an_error_and_changes_nothing() {
        LeaseId id = opened();
        assertThat(ask(id, one("nowhere")).error).isInstanceOf(IllegalArgumentException.class);
        assertThat(status(id).waiting()).isNull();
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
