package io.fairgate.testkit;

import static io.fairgate.testkit.LeaseScene.ACME;
import static io.fairgate.testkit.LeaseScene.TERM;
import static io.fairgate.testkit.LeaseScene.TTL;
import static io.fairgate.testkit.LeaseScene.one;
import static io.fairgate.testkit.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.embedded.Leases;
import io.fairgate.lease.embedded.PoolDemand;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.testkit.LeaseScene.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Leases that wait for permits: their place in the queue, and who calls meanwhile. */
class WaitingLeasesTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final LeaseScene scene = new LeaseScene(nothingLeft);
    private final Leases leases = scene.leases;

    @Test
    void it_is_told_how_long_a_grant_was_waited_for() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        scene.ask(id, one("pool"));
        scene.time.advanceBy(Duration.ofSeconds(3));
        leases.release(holder);
        scene.time.advanceBy(Duration.ofSeconds(2));
        assertThat(scene.status(id).held()).singleElement().satisfies(held -> {
            assertThat(held.waitedNanos()).isEqualTo(Duration.ofSeconds(3).toNanos());
            assertThat(held.heldNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
        });
        leases.release(id);
    }

    @Test
    void who_asks_again_keeps_its_place() {
        LeaseId holder = scene.holding(2);
        LeaseId first = scene.opened();
        LeaseId second = scene.opened();
        assertThat(scene.ask(first, one("pool")).held).isFalse();
        assertThat(scene.ask(second, one("pool")).held).isFalse();
        assertThat(scene.waiting()).isEqualTo(2);
        scene.time.advanceBy(Duration.ofSeconds(29));
        Answer again = scene.ask(first, permits(1, "pool", Duration.ofSeconds(10)));
        assertThat(scene.waiting()).isEqualTo(2);
        assertThat(scene.status(first).waiting())
                .isEqualTo(new LeaseStatus.Waiting(
                        Map.of("pool", 1), "pool", 1, Duration.ofSeconds(29).toNanos()));
        assertThat(scene.status(second).waiting())
                .extracting(w -> Objects.requireNonNull(w).place())
                .isEqualTo(2);
        assertThat(leases.demand("pool"))
                .isEqualTo(new PoolDemand(2, 2, Duration.ofSeconds(29).toNanos()));
        leases.giveBack(holder, "pool");
        assertThat(again.held).isTrue();
        assertThat(scene.status(first).leftNanos()).isEqualTo(TTL.toNanos());
        List.of(holder, first, second).forEach(leases::release);
    }

    @Test
    void the_answer_is_not_yet_when_the_patience_of_the_caller_ends_and_the_place_stays_for_the_ttl() {
        LeaseId holder = scene.holding(2);
        leases.extend(holder, Duration.ofMinutes(4));
        LeaseId id = scene.opened();
        Answer answer = scene.ask(id, permits(1, "pool", Duration.ofSeconds(40)));
        scene.time.advanceBy(Duration.ofSeconds(40));
        assertThat(answer.held).isFalse();
        scene.time.advanceBy(TTL.minusNanos(1));
        assertThat(scene.waiting()).isOne();
        scene.time.advanceBy(Duration.ofNanos(1));
        assertThat(scene.waiting()).isZero();
        assertThat(leases.status(id)).isNull();
        leases.release(holder);
    }

    @Test
    void a_grant_makes_no_lease_end_before_its_holder_was_told() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        scene.ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        leases.extend(id, Duration.ofMinutes(2));
        scene.time.advanceBy(Duration.ofSeconds(20));
        leases.release(holder);
        assertThat(scene.status(id).leftNanos())
                .isEqualTo(Duration.ofSeconds(100).toNanos());
        leases.extend(id, TTL);
        assertThat(scene.status(id).leftNanos()).isEqualTo(TTL.toNanos());
        leases.release(id);
    }

    @Test
    void a_caller_that_leaves_loses_nothing_of_the_lease() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Answer answer = scene.ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        answer.call.dispose();
        assertThat(scene.waiting()).isOne();
        leases.release(holder);
        assertThat(scene.status(id).held()).hasSize(1);
        assertThat(answer.held).isNull();
        leases.release(id);
    }

    @Test
    void who_waits_for_a_lease_that_ends_is_told_at_once() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Answer one = scene.ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        Answer two = scene.ask(id, permits(1, "pool", Duration.ofSeconds(10)));
        leases.release(id);
        assertThat(one.error).isInstanceOf(LeaseGoneException.class);
        assertThat(two.error).isInstanceOf(LeaseGoneException.class);
        assertThat(scene.waiting()).isZero();
        assertThat(scene.ask(id, one("pool")).error).isInstanceOf(LeaseGoneException.class);
        leases.release(holder);
    }

    @Test
    void a_place_in_the_queue_can_be_given_back_alone() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Answer answer = scene.ask(id, permits(1, "pool", TTL));
        assertThat(leases.giveBack(id, "pool")).isTrue();
        assertThat(scene.waiting()).isZero();
        assertThat(answer.held).isFalse();
        assertThat(leases.status(id)).isNotNull();
        leases.release(id);
        leases.release(holder);
    }

    @Test
    void it_waits_for_one_pool_at_a_time() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        scene.ask(id, one("pool"));
        assertThat(scene.ask(id, one("other")).error).isInstanceOf(IllegalStateException.class);
        leases.release(id);
        leases.release(holder);
    }

    @Test
    void the_place_in_the_queue_is_right_whoever_leaves() {
        EmbeddedPermitPool wide = nothingLeft.watch(LeaseScene.pool("wide", PoolSettings.ofPermits(1), scene.time));
        Leases many = scene.leasesOf(wide);
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
    void when_a_release_is_over_the_next_one_holds_what_came_back() {
        VirtualTimeScheduler nobodyElseRuns = VirtualTimeScheduler.create(true);
        EmbeddedPermitPool single = LeaseScene.pool("single", PoolSettings.ofPermits(1), nobodyElseRuns);
        Leases alone = scene.leasesOf(single);
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
}
