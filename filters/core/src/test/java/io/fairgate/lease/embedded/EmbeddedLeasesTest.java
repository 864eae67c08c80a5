package io.fairgate.lease.embedded;

import static io.fairgate.testkit.lease.LeaseScene.ACME;
import static io.fairgate.testkit.lease.LeaseScene.TERM;
import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.lease.LeasesContract;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The contract, and what only the embedded leases promise: what they do, they do before a call returns. */
class EmbeddedLeasesTest extends LeasesContract {

    private static final LeaseRequest ONE = LeaseRequest.of("pool", 1, Duration.ZERO, TTL);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    @Override
    protected PermitPool newPool(String name, PoolSettings settings, Scheduler time) {
        return new EmbeddedPermitPool(name, settings, TenantShares.EQUAL, time, PoolListener.NONE);
    }

    @Override
    protected Leases newLeases(LeasedPools pools, Scheduler time) {
        return new EmbeddedLeases(pools, time, new FencingTokens(() -> Instant.EPOCH));
    }

    private Leases leasesOf(int permits) {
        nothingLeft.watch(time);
        PermitPool pool = nothingLeft.watch(newPool("pool", PoolSettings.ofPermits(permits), time));
        return newLeases(Map.of("pool", pool)::get, time);
    }

    private static LeaseId opened(Leases leases) {
        LeaseId id = LeaseId.random();
        assertThat(leases.open(id, LeaseHolder.of(ACME, "batch"), TERM).block()).isTrue();
        return id;
    }

    private static LeaseStatus status(Leases leases, LeaseId id) {
        return Objects.requireNonNull(leases.status(id).block());
    }

    private static void releaseAll(Leases leases) {
        leases.ids().concatMap(leases::release).blockLast();
    }

    @Test
    void a_silent_holder_loses_its_permits_at_the_very_moment() {
        Leases leases = leasesOf(1);
        LeaseId silent = opened(leases);
        leases.acquire(silent, ONE).block();
        LeaseId next = opened(leases);
        CompletableFuture<Boolean> answer = leases.acquire(next, LeaseRequest.of("pool", 1, TTL.multipliedBy(2), TTL))
                .toFuture();
        time.advanceBy(TTL.minusNanos(1));
        assertThat(answer).isNotDone();
        time.advanceBy(Duration.ofNanos(1));
        assertThat(answer).isCompletedWithValue(true);
        releaseAll(leases);
    }

    @Test
    void a_listener_hears_of_an_end_before_the_grant_that_it_makes_room_for() {
        Leases leases = leasesOf(1);
        List<String> events = new ArrayList<>();
        leases.listen(new LeaseListener() {
            @Override
            public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
                events.add("granted");
            }

            @Override
            public void released(LeaseStatus lease, LeaseStatus.Held permits) {
                events.add("released " + permits.permits());
            }

            @Override
            public void ended(LeaseStatus lease, End how) {
                events.add(how.name());
            }
        });
        List<LeaseId> ids = List.of(opened(leases), opened(leases), opened(leases));
        ids.forEach(id -> leases.acquire(id, ONE).block());
        leases.release(ids.get(0), "pool").block();
        leases.release(ids.get(1)).block();
        assertThat(events).containsExactly("granted", "released 1", "granted", "RELEASED", "granted");
        releaseAll(leases);
    }

    @Test
    void a_listener_that_throws_costs_no_lease_its_permits_and_no_other_listener_its_event() {
        Leases leases = leasesOf(1);
        List<Throwable> dropped = new ArrayList<>();
        List<LeaseId> ended = new ArrayList<>();
        leases.listen(new LeaseListener() {
            @Override
            public void ended(LeaseStatus lease, End how) {
                throw new IllegalStateException("boom");
            }
        });
        leases.listen(new LeaseListener() {
            @Override
            public void ended(LeaseStatus lease, End how) {
                ended.add(lease.id());
            }
        });
        LeaseId id = opened(leases);
        leases.acquire(id, ONE).block();
        Hooks.onErrorDropped(dropped::add);
        try {
            assertThat(leases.release(id).block()).isTrue();
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertThat(dropped).singleElement().satisfies(e -> assertThat(e).hasMessage("boom"));
        assertThat(ended).containsExactly(id);
    }

    @Test
    void the_place_in_the_queue_and_the_list_of_the_tenant_are_right_whichever_lease_leaves() {
        Leases leases = leasesOf(1);
        Random random = new Random(7);
        List<LeaseId> inOrder = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            LeaseId id = opened(leases);
            leases.acquire(id, ONE).block();
            inOrder.add(id);
            if (random.nextInt(3) == 0) {
                leases.release(inOrder.remove(1 + random.nextInt(inOrder.size() - 1)))
                        .block();
            }
            for (int place = 1; place < inOrder.size(); place++) {
                assertThat(status(leases, inOrder.get(place)).waiting())
                        .extracting(waiting -> Objects.requireNonNull(waiting).place())
                        .isEqualTo(place);
            }
            assertThat(leases.ids(ACME).collectList().block()).containsExactlyInAnyOrderElementsOf(inOrder);
        }
        releaseAll(leases);
    }

    @Test
    void when_a_release_is_over_the_next_lease_holds_what_came_back() {
        VirtualTimeScheduler nothingElseRuns = VirtualTimeScheduler.create(true);
        PermitPool pool = newPool("pool", PoolSettings.ofPermits(1), nothingElseRuns);
        Leases leases = newLeases(Map.of("pool", pool)::get, nothingElseRuns);
        LeaseId holder = opened(leases);
        LeaseId next = opened(leases);
        for (LeaseId id : List.of(holder, next)) {
            var unused = leases.acquire(id, ONE).subscribe();
        }
        leases.release(holder).block();
        assertThat(status(leases, next).held()).hasSize(1);
        leases.release(next).block();
    }

    @Test
    void of_many_calls_that_wait_for_the_same_permits_the_latest_four_get_the_answer_and_the_others_may_repeat() {
        Leases leases = leasesOf(2);
        LeaseId first = opened(leases);
        LeaseId second = opened(leases);
        LeaseRequest two = LeaseRequest.of("pool", 2, TTL, null);
        assertThat(leases.acquire(first, two).block()).isTrue();
        List<CompletableFuture<Boolean>> callers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            callers.add(leases.acquire(second, two).toFuture());
        }
        assertThat(callers.get(0)).isCompletedWithValue(false);
        assertThat(callers.get(1)).isCompletedWithValue(false);
        assertThat(callers.get(2)).isNotDone();
        callers.get(5).cancel(true);
        leases.release(first).block();
        for (CompletableFuture<Boolean> caller : callers.subList(2, 5)) {
            assertThat(caller).isCompletedWithValue(true);
        }
        leases.release(second).block();
    }

    @Test
    void the_status_in_a_payment_and_in_the_event_of_the_grant_show_which_came_first() {
        Leases leases = leasesOf(1);
        LeaseId id = opened(leases);
        List<String> order = new ArrayList<>();
        leases.listen(new LeaseListener() {
            @Override
            public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
                order.add("granted, held: " + lease.held().size());
            }
        });
        Mono<Void> payment = leases.status(id)
                .doOnNext(lease -> order.add("paid, held: " + lease.held().size()))
                .then();
        leases.acquire(id, ONE, status -> payment).block();
        assertThat(order).containsExactly("paid, held: 0", "granted, held: 1");
        releaseAll(leases);
    }

    @Test
    void leases_that_are_drained_end_unless_they_hold_permits_and_grant_nothing_more() {
        Leases leases = leasesOf(2);
        LeaseId holder = opened(leases);
        leases.acquire(holder, ONE).block();
        LeaseId idle = opened(leases);
        LeaseId waiting = opened(leases);
        CompletableFuture<Boolean> answer =
                leases.acquire(waiting, LeaseRequest.of("pool", 2, TTL, TTL)).toFuture();
        leases.drain().block();
        assertThat(answer).isCompletedExceptionally();
        assertThat(leases.ids().collectList().block()).containsExactly(holder);
        assertThat(leases.acquire(holder, ONE).block())
                .as("what it holds already")
                .isTrue();
        assertThat(leases.open(idle, LeaseHolder.of(ACME, "batch"), TERM).block())
                .isTrue();
        assertThatThrownBy(() -> leases.acquire(idle, ONE).block()).isInstanceOf(LeaseGoneException.class);
        releaseAll(leases);
    }

    @Test
    void leases_that_are_closed_all_end() {
        Leases leases = leasesOf(3);
        LeaseId holder = opened(leases);
        leases.acquire(holder, ONE).block();
        LeaseId paying = opened(leases);
        CompletableFuture<Boolean> paid = leases.acquire(
                        paying, LeaseRequest.of("pool", 1, TTL, TTL), status -> Mono.never())
                .toFuture();
        LeaseId waiting = opened(leases);
        CompletableFuture<Boolean> answer =
                leases.acquire(waiting, LeaseRequest.of("pool", 3, TTL, TTL)).toFuture();
        leases.close().block();
        assertThat(answer).isCompletedExceptionally();
        assertThat(paid).isCompletedExceptionally();
        assertThat(leases.count().block()).isEqualTo(new LeaseCount(0, 0, 0));
    }

    @Test
    void another_memory_makes_other_ids_and_begins_anew() {
        time.advanceBy(TTL);
        LeaseMemory one = Objects.requireNonNull(leasesOf(1).memory().block());
        LeaseMemory two = Objects.requireNonNull(leasesOf(1).memory().block());
        assertThat(one.ids().of("nightly")).isNotEqualTo(two.ids().of("nightly"));
        assertThat(one.age()).isZero();
    }

    @Test
    void of_several_pools_that_are_being_paid_one_may_be_given_back_and_nothing_is_paid_twice() {
        nothingLeft.watch(time);
        Map<String, PermitPool> pools = Map.of(
                "pool", nothingLeft.watch(newPool("pool", PoolSettings.ofPermits(1), time)),
                "other", nothingLeft.watch(newPool("other", PoolSettings.ofPermits(1), time)));
        Leases leases = newLeases(pools::get, time);
        LeaseId id = opened(leases);
        AtomicInteger payments = new AtomicInteger();
        Mono<Void> payment = Mono.<Void>never().doOnSubscribe(begun -> payments.incrementAndGet());
        LeaseRequest both = new LeaseRequest(Map.of("pool", 1, "other", 1), TTL, TTL);
        var unused = leases.acquire(id, both, status -> payment).subscribe();
        assertThat(leases.release(id, "other").block()).isTrue();
        assertThat(payments).hasValue(1);
        releaseAll(leases);
    }
}
