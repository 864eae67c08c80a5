package io.fairgate.redis.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.redis.lease.SharedLeases.Gateway;
import io.fairgate.redis.slice.NearPools;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Leases of several gateways. */
class SharedLeasesTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(25);

    private final SharedLeases cluster = new SharedLeases(Map.of("pool", 4, "other", 1));
    private final List<Gateway> gateways = cluster.newGateways(3);
    private final Gateway one = gateways.get(0);
    private final Gateway two = gateways.get(1);
    private final Gateway three = gateways.get(2);

    private void pass(Duration duration) {
        cluster.pass(duration);
    }

    private <T> T answer(Mono<T> call) {
        return Objects.requireNonNull(cluster.answer(call));
    }

    private static LeaseStatus.Held held(Gateway gateway, LeaseId id) {
        return Objects.requireNonNull(gateway.status(id)).held().get(0);
    }

    private static boolean exists(Gateway gateway, LeaseId id) {
        return gateway.status(id) != null;
    }

    @Test
    void each_gateway_shows_extends_and_releases_the_lease_of_another() {
        LeaseId id = one.holding(3);
        assertThat(held(two, id).permits()).isEqualTo(3);
        pass(Duration.ofSeconds(20));
        assertThat(answer(two.leases.extend(id, SharedLeases.TTL))).isEqualTo(SharedLeases.TTL);
        pass(Duration.ofSeconds(20));
        assertThat(held(one, id).permits()).isEqualTo(3);
        assertThat(cluster.pools.leased("pool")).isEqualTo(3);
        assertThat(answer(three.leases.release(id))).isTrue();
        assertThat(cluster.pools.leased("pool")).isZero();
        assertThat(exists(one, id)).isFalse();
        pass(SECOND);
        assertThat(one.inFlight())
                .as("the gateway that had granted it learns of it")
                .isZero();
        LeaseId all = two.holding(4);
        assertThat(one.events).containsExactly("granted 3 of pool");
        assertThat(two.events).containsExactly("extended", "granted 4 of pool");
        assertThat(three.events).containsExactly("RELEASED with 1");
        answer(two.leases.release(all));
    }

    @Test
    void the_permits_of_one_pool_are_released_at_another_gateway() {
        LeaseId id = one.opened();
        LeaseRequest both = new LeaseRequest(Map.of("pool", 2, "other", 1), SECOND, SharedLeases.TTL);
        CompletableFuture<Boolean> answer = one.acquire(id, both);
        pass(SECOND);
        assertThat(answer).isCompletedWithValue(true);
        assertThat(answer(two.leases.release(id, "pool"))).isTrue();
        pass(SECOND);
        assertThat(one.inFlight()).isZero();
        assertThat(cluster.pools.leased("pool")).isZero();
        assertThat(cluster.pools.leased("other")).isOne();
        assertThat(answer(one.leases.release(id, "other"))).isTrue();
        assertThat(cluster.pools.leased("other")).isZero();
        answer(three.leases.release(id));
    }

    @Test
    void a_call_at_another_gateway_keeps_the_place_and_gets_the_answer() {
        LeaseId all = one.holding(4);
        LeaseId first = two.opened();
        LeaseId second = two.opened();
        CompletableFuture<Boolean> there = two.acquire(first, 4, Duration.ofSeconds(1));
        two.queue(second, 4);
        pass(Duration.ofSeconds(2));
        assertThat(there).isCompletedWithValue(false);
        CompletableFuture<Boolean> here = three.acquire(first, 4, LONG);
        pass(Duration.ofSeconds(2));
        assertThat(here).isNotDone();
        assertThat(Objects.requireNonNull(
                                Objects.requireNonNull(three.status(first)).waiting())
                        .place())
                .isOne();
        assertThat(answer(one.leases.count())).isEqualTo(new LeaseCount(3, 1, 2));
        assertThat(answer(one.leases.waiting("pool")).permits()).isEqualTo(8);
        answer(three.leases.release(all));
        pass(SECOND);
        assertThat(here).isCompletedWithValue(true);
        assertThat(held(one, first).permits()).isEqualTo(4);
        assertThat(two.events).as("it waited there").containsExactly("granted 4 of pool");
        answer(one.leases.release(first));
        answer(one.leases.release(second));
    }

    @Test
    void a_call_at_another_gateway_learns_of_the_refusal_and_of_the_end() {
        LeaseId all = one.holding(4);
        LeaseId refused = two.opened();
        LeaseId gone = two.opened();
        two.queue(refused, 1);
        two.queue(gone, 1);
        CompletableFuture<Boolean> ofRefused = three.acquire(refused, 1, LONG);
        CompletableFuture<Boolean> ofGone = three.acquire(gone, 1, LONG);
        answer(one.leases.release(gone));
        pass(SECOND);
        assertThat(SharedLeases.error(ofGone)).isInstanceOf(LeaseGoneException.class);
        two.pool("pool").close(Duration.ZERO).subscribe();
        pass(SECOND);
        assertThat(SharedLeases.error(ofRefused)).isInstanceOf(PermitRefusedException.class);
        answer(one.leases.release(all));
        answer(one.leases.release(refused));
    }

    @Test
    void two_gateways_whose_leases_want_all_permits_get_them_in_turn() {
        LeaseId first = one.opened();
        LeaseId second = two.opened();
        CompletableFuture<Boolean> ofFirst = one.acquire(first, 4, LONG);
        CompletableFuture<Boolean> ofSecond = two.acquire(second, 4, LONG);
        pass(SECOND);
        assertThat(List.of(ofFirst.isDone(), ofSecond.isDone())).containsExactlyInAnyOrder(true, false);
        pass(Duration.ofSeconds(10));
        answer(three.leases.release(ofFirst.isDone() ? first : second));
        pass(SECOND);
        assertThat(ofFirst).isCompletedWithValue(true);
        assertThat(ofSecond).isCompletedWithValue(true);
        assertThat(cluster.pools.leased("pool")).isEqualTo(4);
        answer(three.leases.release(first));
        answer(three.leases.release(second));
    }

    @Test
    void a_lease_for_all_permits_is_granted_while_another_gateway_is_busy() {
        for (int i = 0; i < 8; i++) {
            keepBusy(two, Duration.ofMillis(20 + i));
        }
        pass(SECOND);
        assertThat(two.inFlight()).isEqualTo(4);
        LeaseId all = one.opened();
        CompletableFuture<Boolean> answer = one.acquire(all, 4, LONG);
        pass(Duration.ofSeconds(2));
        assertThat(answer).isCompletedWithValue(true);
        assertThat(two.inFlight()).isZero();
        answer(three.leases.release(all));
        pass(SECOND);
        assertThat(two.inFlight()).isEqualTo(4);
    }

    /** One request after the other. */
    private void keepBusy(Gateway gateway, Duration hold) {
        PermitRequest request =
                PermitRequest.of("busy").withEventLoop(Runnable::run).withMaxWait(Duration.ofHours(1));
        gateway.pool("pool")
                .acquire(request)
                .subscribe(held -> cluster.time.schedule(
                        () -> {
                            held.release();
                            keepBusy(gateway, hold);
                        },
                        hold.toNanos(),
                        TimeUnit.NANOSECONDS));
    }

    @Test
    void a_lease_for_more_permits_than_are_left_beside_another_lease_takes_nothing_from_requests() {
        LeaseId small = two.holding(1);
        for (int i = 0; i < 8; i++) {
            keepBusy(two, Duration.ofMillis(20 + i));
        }
        LeaseId all = one.opened();
        CompletableFuture<Boolean> answer = one.acquire(all, 4, LONG);
        for (int i = 0; i < 10; i++) {
            pass(SECOND);
            assertThat(two.inFlight()).as("all others, and the lease").isEqualTo(4);
        }
        answer(three.leases.release(small));
        pass(Duration.ofSeconds(2));
        assertThat(answer).isCompletedWithValue(true);
        answer(three.leases.release(all));
    }

    @Test
    void no_permits_are_collected_for_a_request_that_does_not_fit_beside_a_lease_of_its_gateway() {
        for (int i = 0; i < 8; i++) {
            keepBusy(two, Duration.ofMillis(20 + i));
        }
        pass(SECOND);
        LeaseId lease = two.holding(2);
        CompletableFuture<Boolean> large = new CompletableFuture<>();
        two.pool("pool")
                .withPermit(
                        PermitRequest.of("large").withPermits(3).withMaxWait(Duration.ofHours(1)),
                        Mono.fromRunnable(() -> large.complete(true)))
                .subscribe();
        for (int i = 0; i < 500; i++) {
            pass(Duration.ofMillis(10));
            assertThat(two.inFlight())
                    .as("requests for one permit, and the lease")
                    .isEqualTo(4);
        }
        answer(three.leases.release(lease));
        pass(Duration.ofSeconds(2));
        assertThat(large).isCompletedWithValue(true);
    }

    @Test
    void a_lease_outlives_its_gateway() {
        LeaseId id = one.holding(3);
        long token = held(one, id).token();
        one.kill();
        pass(Duration.ofSeconds(20));
        assertThat(held(two, id).permits()).isEqualTo(3);
        assertThat(held(two, id).token()).isEqualTo(token);
        assertThat(answer(two.leases.extend(id, SharedLeases.TTL))).isEqualTo(SharedLeases.TTL);
        LeaseId next = three.opened();
        CompletableFuture<Boolean> beside = three.acquire(next, 2, SECOND);
        pass(Duration.ofSeconds(25));
        assertThat(beside).as("it still has its permits").isCompletedWithValue(false);
        assertThat(cluster.pools.leased("pool")).isEqualTo(3);
        assertThat(answer(three.leases.release(id))).isTrue();
        pass(SECOND);
        assertThat(held(two, next).permits()).isEqualTo(2);
        assertThat(held(two, next).token()).isGreaterThan(token);
        answer(two.leases.release(next));
    }

    @Test
    void the_permits_of_a_silent_holder_come_back_although_its_gateway_has_ended() {
        LeaseId id = one.holding(4);
        one.kill();
        LeaseId next = two.opened();
        CompletableFuture<Boolean> answer = two.acquire(next, 4, Duration.ofSeconds(60));
        pass(SharedLeases.TTL.minusSeconds(2));
        assertThat(answer).isNotDone();
        pass(Duration.ofSeconds(3));
        assertThat(answer).isCompletedWithValue(true);
        assertThat(exists(two, id)).isFalse();
        assertThat(two.events.size() + three.events.size())
                .as("one of them has ended it: %s %s", two.events, three.events)
                .isEqualTo(2);
        answer(two.leases.release(next));
    }

    @Test
    void a_place_in_the_queue_outlives_its_gateway_in_the_order_of_arrival() {
        LeaseId all = two.holding(4);
        List<LeaseId> waiting = List.of(one.opened(), one.opened(), one.opened());
        waiting.forEach(id -> one.queue(id, 4));
        pass(SECOND);
        one.kill();
        CompletableFuture<Boolean> answer = three.acquire(waiting.get(0), 4, LONG);
        pass(LeaseBook.LIVE.plus(SECOND));
        assertThat(answer).isNotDone();
        answer(two.leases.extend(all, Duration.ofSeconds(60)));
        LeaseId later = two.opened();
        two.queue(later, 4);
        for (LeaseId id : waiting) {
            answer(two.leases.extend(id, Duration.ofSeconds(60)));
        }
        answer(two.leases.release(all));
        pass(SECOND);
        assertThat(answer).isCompletedWithValue(true);
        for (LeaseId id : waiting) {
            assertThat(Objects.requireNonNull(three.status(id)).held())
                    .as("its turn")
                    .hasSize(1);
            answer(two.leases.release(id));
            pass(SECOND);
        }
        assertThat(Objects.requireNonNull(two.status(later)).held()).hasSize(1);
        answer(two.leases.release(later));
    }

    @Test
    void a_gateway_that_was_cut_off_gives_up_what_others_have_taken_over() {
        LeaseId held = one.holding(1);
        LeaseId all = two.holding(3);
        LeaseId waiting = one.opened();
        CompletableFuture<Boolean> call = one.acquire(waiting, 3, LONG);
        one.cut(true);
        pass(SECOND);
        assertThat(SharedLeases.error(call)).isInstanceOf(LeasesUnavailableException.class);
        pass(LeaseBook.LIVE);
        answer(two.leases.release(all));
        pass(SECOND);
        assertThat(Objects.requireNonNull(two.status(waiting)).held())
                .as("it queued at another gateway")
                .hasSize(1);
        answer(two.leases.release(held));
        one.cut(false);
        pass(Duration.ofSeconds(5));
        assertThat(one.inFlight()).isZero();
        assertThat(cluster.pools.leased("pool")).isEqualTo(3);
        answer(one.leases.release(waiting));
        assertThat(cluster.pools.leased("pool")).isZero();
    }

    @Test
    void a_gateway_that_ends_leaves_its_leases_to_the_others() {
        LeaseId held = one.holding(2);
        LeaseId all = two.holding(2);
        LeaseId waiting = one.opened();
        one.queue(waiting, 2);
        one.leases.close().subscribe();
        pass(Duration.ofMillis(500));
        one.own.values().forEach(pool -> pool.close(Duration.ZERO).subscribe());
        pass(Duration.ofMillis(500));
        answer(two.leases.release(all));
        pass(SECOND);
        assertThat(Objects.requireNonNull(two.status(waiting)).held()).hasSize(1);
        assertThat(held(two, held).permits()).isEqualTo(2);
        assertThat(cluster.pools.leased("pool")).isEqualTo(4);
        answer(two.leases.release(waiting));
        answer(three.leases.release(held));
        assertThat(cluster.pools.leased("pool")).isZero();
    }

    @Test
    void a_grant_whose_answer_is_lost_is_a_grant() {
        LeaseId id = one.opened();
        one.book.losesAnswerOf = NearBook::isGrant;
        CompletableFuture<Boolean> call = one.acquire(id, 2, LONG);
        pass(SECOND);
        assertThat(call).isCompletedWithValue(true);
        assertThat(held(two, id).permits()).isEqualTo(2);
        assertThat(cluster.pools.leased("pool")).isEqualTo(2);
        assertThat(one.inFlight()).isEqualTo(2);
        assertThat(one.events).containsExactly("granted 2 of pool");
        answer(one.leases.release(id));
    }

    @Test
    void a_release_whose_answer_is_lost_gives_the_permits_back() {
        LeaseId id = one.holding(2);
        one.book.losesAnswerOf = call -> call.contains("change");
        CompletableFuture<Boolean> call = one.leases.release(id, "pool").toFuture();
        pass(SECOND);
        assertThat(SharedLeases.error(call)).isInstanceOf(LeasesUnavailableException.class);
        assertThat(cluster.pools.leased("pool")).isZero();
        assertThat(one.inFlight()).isZero();
        answer(one.leases.release(id));
    }

    @Test
    void a_call_without_an_answer_errors_and_a_repeated_call_goes_on() {
        LeaseId id = one.opened();
        one.book.isAnswerLost = true;
        CompletableFuture<Boolean> call = one.acquire(id, 2, LONG);
        pass(SECOND);
        one.book.isAnswerLost = false;
        pass(SECOND);
        assertThat(SharedLeases.error(call)).isInstanceOf(LeasesUnavailableException.class);
        CompletableFuture<Boolean> again = one.acquire(id, 2, LONG);
        pass(SECOND);
        assertThat(again).isCompletedWithValue(true);
        assertThat(cluster.pools.leased("pool")).isEqualTo(2);
        answer(one.leases.release(id));
    }

    @Test
    void a_lost_book_is_written_again_by_the_gateways_that_know_it() {
        LeaseId held = one.holding(2);
        LeaseId waiting = two.opened();
        two.queue(waiting, 4);
        long token = held(one, held).token();
        pass(SECOND);
        loseBook();
        pass(LeaseBook.LIVE.plus(SECOND));
        assertThat(held(three, held).permits()).isEqualTo(2);
        assertThat(held(three, held).token()).isEqualTo(token);
        assertThat(answer(three.leases.count())).isEqualTo(new LeaseCount(2, 1, 1));
        answer(three.leases.release(held));
        pass(SECOND);
        assertThat(held(three, waiting).permits()).isEqualTo(4);
        assertThat(held(three, waiting).token()).isGreaterThan(token);
        answer(one.leases.release(waiting));
    }

    /** Both gateways have changed the lease: the one has heard last that it waits, the other that it holds its permits. */
    private LeaseId heldAndKnownToWait() {
        LeaseId all = three.holding(4);
        LeaseId id = one.opened();
        one.queue(id, 1);
        pass(Duration.ofMillis(10));
        two.queue(id, 1);
        pass(Duration.ofMillis(10));
        answer(three.leases.release(all));
        pass(Duration.ofMillis(200));
        assertThat(held(one, id).permits()).isOne();
        return id;
    }

    private void loseBook() {
        NearBook.redis().flushall();
        cluster.otherServer("server " + cluster.time.now(TimeUnit.MILLISECONDS));
    }

    private void loseLedgers() {
        cluster.pools.flush("server " + cluster.time.now(TimeUnit.MILLISECONDS));
        pass(NearPools.AFTER_RECOVERY);
    }

    @Test
    void the_gateway_that_takes_the_lease_of_another_writes_it_again_when_redis_has_lost_all() {
        LeaseId id = one.holding(3);
        long token = held(one, id).token();
        one.kill();
        pass(LeaseBook.LIVE.plus(SECOND));
        answer(three.leases.extend(id, Duration.ofMinutes(1)));
        pass(SECOND);
        loseBook();
        loseLedgers();
        pass(SharedLeases.TTL);
        assertThat(held(three, id).permits()).isEqualTo(3);
        assertThat(held(three, id).token()).isEqualTo(token);
        assertThat(cluster.pools.leased("pool")).as("for as long as extended").isEqualTo(3);
        answer(three.leases.release(id));
        pass(SECOND);
        loseBook();
        loseLedgers();
        assertThat(exists(two, id)).as("released").isFalse();
        assertThat(cluster.pools.leased("pool")).isZero();
    }

    private Gateway host(LeaseId id) {
        String name = Objects.requireNonNull(NearBook.record(id)).split("\n", -1)[6];
        return gateways.stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void the_host_of_a_lease_ends_its_permits_when_the_gateway_that_released_it_could_not() {
        LeaseId id = one.holding(3);
        one.kill();
        pass(LeaseBook.LIVE.plus(SECOND));
        Gateway other = host(id) == two ? three : two;
        cluster.pools.cut(other.own.values(), true);
        other.leases.release(id).subscribe();
        pass(Duration.ofMillis(10));
        other.kill();
        pass(SECOND);
        assertThat(cluster.pools.leased("pool")).isZero();
    }

    @Test
    void of_the_leases_of_a_gateway_that_has_ended_those_with_permits_are_taken_first() {
        LeaseId id = one.holding(3);
        for (int i = 0; i < 1_000; i++) {
            one.leases
                    .open(LeaseId.random(), LeaseHolder.of(SharedLeases.ACME, "idle"), SharedLeases.TERM)
                    .subscribe();
        }
        pass(Duration.ofMillis(100));
        one.kill();
        pass(LeaseBook.LIVE.plusMillis(150));
        assertThat(host(id)).isNotEqualTo(one);
        answer(two.leases.release(id));
    }

    @Test
    void the_host_of_a_lease_writes_again_what_its_former_host_has_granted() {
        LeaseId id = one.holding(3);
        CompletableFuture<Boolean> more = two.acquire(id, LeaseRequest.of("other", 1, LONG, SharedLeases.TTL));
        pass(SECOND);
        assertThat(more).isCompletedWithValue(true);
        loseLedgers();
        assertThat(cluster.pools.leased("pool")).isEqualTo(3);
        assertThat(cluster.pools.leased("other")).isOne();
        answer(one.leases.release(id, "pool"));
        pass(SECOND);
        loseLedgers();
        assertThat(cluster.pools.leased("pool")).as("released").isZero();
        assertThat(cluster.pools.leased("other")).isOne();
        answer(one.leases.release(id));
    }

    @Test
    void a_gateway_that_knows_less_does_not_take_back_what_another_has_written_again() {
        LeaseId id = heldAndKnownToWait();
        two.book.isAnswerLost = true;
        loseBook();
        pass(SECOND);
        two.book.isAnswerLost = false;
        pass(LeaseBook.LIVE.plus(SECOND));
        assertThat(held(three, id).permits()).isOne();
        answer(three.leases.release(id));
    }

    @Test
    void a_gateway_that_knows_more_replaces_what_another_has_written_again() {
        LeaseId id = heldAndKnownToWait();
        one.book.isAnswerLost = true;
        loseBook();
        pass(Duration.ofMillis(200));
        CompletableFuture<Boolean> early = two.acquire(id, 1, SECOND);
        pass(SECOND);
        assertThat(SharedLeases.error(early)).isInstanceOf(LeasesUnavailableException.class);
        one.book.isAnswerLost = false;
        pass(LeaseBook.LIVE.plus(SECOND));
        assertThat(held(three, id).permits()).isOne();
        answer(three.leases.release(id));
    }

    @Test
    void a_lease_of_a_gateway_that_has_ended_is_taken_over_also_after_the_book_was_lost() {
        LeaseId all = three.holding(4);
        LeaseId id = one.opened();
        one.queue(id, 1);
        pass(Duration.ofMillis(10));
        two.queue(id, 1);
        pass(Duration.ofMillis(10));
        one.kill();
        loseBook();
        pass(LeaseBook.LIVE.multipliedBy(2).plus(SECOND));
        answer(three.leases.release(all));
        pass(SECOND);
        assertThat(held(three, id).permits()).isOne();
        answer(three.leases.release(id));
    }

    @Test
    void a_grant_that_is_given_up_on_its_way_leaves_nothing() {
        LeaseId id = one.opened();
        CompletableFuture<Boolean> call = one.leases
                .acquire(id, LeaseRequest.of("pool", 4, LONG, SharedLeases.TTL))
                .toFuture();
        CompletableFuture<Boolean> released = one.leases.release(id, "pool").toFuture();
        pass(SECOND);
        assertThat(call).isDone();
        assertThat(released).isDone();
        LeaseStatus status = Objects.requireNonNull(two.status(id));
        int held = status.held().stream().mapToInt(LeaseStatus.Held::permits).sum();
        assertThat(cluster.pools.leased("pool")).isEqualTo(held);
        assertThat(one.inFlight()).isEqualTo(held);
        answer(two.leases.release(id));
        pass(SECOND);
        assertThat(one.inFlight()).isZero();
    }

    @Test
    void permits_of_one_pool_stay_in_flight_until_its_ledger_has_answered_also_when_those_of_another_are_released() {
        LeaseId id = one.opened();
        cluster.pools.delay("pool", Duration.ofMillis(40));
        LeaseRequest both = new LeaseRequest(Map.of("pool", 1, "other", 1), LONG, SharedLeases.TTL);
        CompletableFuture<Boolean> call = one.acquire(id, both);
        for (int i = 0; i < 1_000 && cluster.pools.leased("other") == 0; i++) {
            pass(Duration.ofMillis(1));
        }
        pass(Duration.ofMillis(5));
        assertThat(cluster.pools.leased("other")).isOne();
        assertThat(cluster.pools.leased("pool")).as("on its way").isZero();
        one.leases.release(id).subscribe();
        pass(Duration.ofMillis(10));
        assertThat(answer(one.pool("other").inFlight())).isZero();
        assertThat(one.pool("pool").inFlight().toFuture()).isCompletedWithValue(1);
        pass(SECOND);
        assertThat(one.inFlight()).isZero();
        assertThat(cluster.pools.leased("pool")).isZero();
        assertThat(SharedLeases.error(call)).isInstanceOf(LeaseGoneException.class);
    }

    @Test
    void permits_of_a_lease_go_to_requests_of_its_gateway_only_by_a_new_slice() {
        LeaseId id = one.holding(4);
        List<String> served = new ArrayList<>();
        one.pool("pool")
                .withPermit(PermitRequest.of(SharedLeases.ACME), Mono.fromRunnable(() -> served.add("request")))
                .subscribe();
        cluster.pools.cut(one.own.values(), true);
        one.leases.release(id).subscribe();
        pass(Duration.ofMillis(20));
        assertThat(one.inFlight()).as("released").isZero();
        assertThat(served).as("without a slice").isEmpty();
        cluster.pools.cut(one.own.values(), false);
        pass(SECOND);
        assertThat(served).hasSize(1);
    }

    @Test
    void a_caller_that_leaves_takes_nothing_from_the_lease_and_leaves_nothing_behind() {
        LeaseId id = one.opened();
        one.book.oneWay = Duration.ofMillis(1);
        two.book.oneWay = Duration.ofMillis(1);
        one.leases
                .acquire(id, LeaseRequest.of("pool", 2, LONG, SharedLeases.TTL))
                .subscribe()
                .dispose();
        pass(SECOND);
        assertThat(held(two, id).permits()).isEqualTo(2);
        two.leases.release(id).subscribe().dispose();
        pass(SECOND);
        assertThat(cluster.pools.leased("pool")).isZero();
        assertThat(one.inFlight()).isZero();
    }

    @Test
    void of_two_gateways_that_decide_at_the_same_moment_the_second_decides_anew() {
        LeaseId id = one.opened();
        one.book.oneWay = Duration.ofMillis(1);
        two.book.oneWay = Duration.ofMillis(1);
        CompletableFuture<Boolean> first = one.leases
                .acquire(id, LeaseRequest.of("pool", 1, LONG, SharedLeases.TTL))
                .toFuture();
        CompletableFuture<Boolean> second = two.leases
                .acquire(id, LeaseRequest.of("other", 1, LONG, SharedLeases.TTL))
                .toFuture();
        pass(SECOND);
        assertThat(first).isCompletedWithValue(true);
        assertThat(SharedLeases.error(second)).isInstanceOf(IllegalStateException.class);
        answer(two.leases.release(id));
    }

    @Test
    void an_id_is_used_again_while_its_last_lease_ends() {
        LeaseId id = one.holding(2);
        one.leases.release(id).subscribe();
        answer(one.leases.open(id, LeaseHolder.of(SharedLeases.ACME, "batch"), SharedLeases.TERM));
        CompletableFuture<Boolean> again = one.acquire(id, 2, LONG);
        pass(SECOND);
        assertThat(again).isCompletedWithValue(true);
        assertThat(one.inFlight()).isEqualTo(2);
        assertThat(cluster.pools.leased("pool")).isEqualTo(2);
        answer(two.leases.release(id));
    }

    @Test
    void a_leap_of_the_clock_of_redis_ends_no_lease_early() {
        LeaseId id = one.holding(1);
        for (long step : new long[] {3600, -7200, 30}) {
            cluster.clockSteps(Duration.ofSeconds(step));
            pass(Duration.ofSeconds(2));
        }
        Duration left = Duration.ofNanos(Objects.requireNonNull(two.status(id)).leftNanos());
        assertThat(left).as("left %s", left).isBetween(Duration.ofMillis(22_900), Duration.ofMillis(23_300));
        pass(left.minusMillis(20));
        assertThat(exists(two, id)).isTrue();
        pass(Duration.ofMillis(20));
        assertThat(exists(two, id)).as("and none late").isFalse();
    }
}
