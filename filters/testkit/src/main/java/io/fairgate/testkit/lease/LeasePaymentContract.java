package io.fairgate.testkit.lease;

import static io.fairgate.testkit.lease.LeaseScene.TTL;
import static io.fairgate.testkit.lease.LeaseScene.one;
import static io.fairgate.testkit.lease.LeaseScene.permits;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Permits are paid after a pool has granted them and before the lease holds them. */
abstract class LeasePaymentContract extends LeaseTopic {

    private static final LeaseRequest ONE = permits(1, "pool", TTL);

    LeasePaymentContract(LeasesContract backend) {
        super(backend);
    }

    /** A payment that ends when the test says so. */
    private final class Payment {
        private final AtomicInteger begun = new AtomicInteger();
        private final Sinks.Empty<Void> end = Sinks.empty();
        final Mono<Void> mono = end.asMono().doOnSubscribe(subscription -> begun.incrementAndGet());

        void assertBegun(int times) {
            scene.runDue();
            assertThat(begun).hasValue(times);
        }

        void succeed() {
            end.tryEmitEmpty().orThrow();
            scene.runDue();
        }

        void fail() {
            end.tryEmitError(new IllegalStateException("no credit")).orThrow();
            scene.runDue();
        }
    }

    private void assertNoCredit(CompletableFuture<Boolean> answer) {
        assertThat(scene.error(answer))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no credit");
    }

    @Test
    void permits_are_paid_once_after_the_grant_and_the_lease_holds_them_afterwards() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer = scene.acquire(id, ONE, payment.mono);
        scene.assertStillWaits(answer);
        payment.assertBegun(1);
        assertThat(scene.inFlight()).isOne();
        assertThat(scene.status(id).held()).isEmpty();
        assertThat(scene.status(id).waiting()).isNotNull();
        assertThat(scene.events).isEmpty();
        payment.succeed();
        scene.assertHeld(answer);
        assertThat(scene.status(id).held()).hasSize(1);
        assertThat(scene.status(id).waiting()).isNull();
        assertThat(scene.events).containsExactly("granted 1 of pool");
        payment.assertBegun(1);
        scene.release(id);
    }

    @Test
    void what_a_lease_holds_already_is_not_paid_again() {
        LeaseId id = scene.holding(1);
        Payment payment = new Payment();
        scene.assertHeld(scene.acquire(id, ONE, payment.mono));
        payment.assertBegun(0);
        scene.release(id);
    }

    @Test
    void a_call_that_cannot_wait_gets_what_is_free_however_long_the_payment_takes() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer = scene.acquire(id, one("pool"), payment.mono);
        scene.assertStillWaits(answer);
        scene.time.advanceBy(Duration.ofSeconds(10));
        scene.assertStillWaits(answer);
        payment.succeed();
        scene.assertHeld(answer);
        assertThat(scene.left(id)).as("counts from the grant").isEqualTo(TTL);
        scene.release(id);
    }

    @Test
    void a_lease_in_a_queue_pays_at_the_grant_although_no_call_waits() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        assertThat(scene.await(scene.acquire(id, one("pool"), payment.mono))).isFalse();
        payment.assertBegun(0);
        scene.release(holder);
        payment.assertBegun(1);
        assertThat(scene.status(id).held()).isEmpty();
        payment.succeed();
        assertThat(scene.status(id).held()).hasSize(1);
        scene.release(id);
    }

    @Test
    void a_lease_that_leaves_its_queue_pays_nothing() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        assertThat(scene.await(scene.acquire(id, one("pool"), payment.mono))).isFalse();
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        scene.release(holder);
        payment.assertBegun(0);
        scene.release(id);
    }

    @Test
    void a_payment_that_errors_is_the_answer_of_all_calls_and_the_lease_may_ask_again() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> first = scene.acquire(id, ONE, payment.mono);
        CompletableFuture<Boolean> second = scene.acquire(id, ONE);
        scene.release(holder);
        payment.assertBegun(1);
        payment.fail();
        assertNoCredit(first);
        assertNoCredit(second);
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.status(id).held()).isEmpty();
        assertThat(scene.status(id).waiting()).isNull();
        assertThat(scene.events).containsExactly("granted 2 of pool", "RELEASED with 1");
        scene.assertHeld(scene.acquire(id, ONE));
        payment.assertBegun(1);
        scene.release(id);
    }

    @Test
    void a_call_that_cannot_wait_is_told_that_the_payment_errored() {
        LeaseId id = scene.opened();
        CompletableFuture<Boolean> answer =
                scene.acquire(id, one("pool"), Mono.error(new IllegalStateException("no credit")));
        assertNoCredit(answer);
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.events).isEmpty();
        scene.release(id);
    }

    @Test
    void permits_that_were_not_paid_go_to_the_next_lease() {
        LeaseId id = scene.opened();
        LeaseId next = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> unpaid = scene.acquire(id, permits(2, "pool", TTL), payment.mono);
        CompletableFuture<Boolean> answer = scene.acquire(next, permits(2, "pool", TTL));
        scene.assertStillWaits(answer);
        payment.fail();
        assertNoCredit(unpaid);
        scene.assertHeld(answer);
        scene.release(id, next);
    }

    @Test
    void a_later_payment_takes_the_place_of_an_earlier_one() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Payment earlier = new Payment();
        Payment later = new Payment();
        CompletableFuture<Boolean> first = scene.acquire(id, ONE, earlier.mono);
        CompletableFuture<Boolean> second = scene.acquire(id, ONE, later.mono);
        scene.release(holder);
        earlier.assertBegun(0);
        later.assertBegun(1);
        later.succeed();
        scene.assertHeld(first);
        scene.assertHeld(second);
        scene.release(id);
    }

    @Test
    void a_later_call_without_a_payment_leaves_the_earlier_one_in_its_place() {
        LeaseId holder = scene.holding(2);
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> first = scene.acquire(id, ONE, payment.mono);
        CompletableFuture<Boolean> second = scene.acquire(id, ONE);
        scene.release(holder);
        payment.assertBegun(1);
        scene.assertStillWaits(second);
        payment.succeed();
        scene.assertHeld(first);
        scene.assertHeld(second);
        scene.release(id);
    }

    @Test
    void a_payment_that_comes_while_another_one_is_being_made_is_not_needed() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        Payment late = new Payment();
        CompletableFuture<Boolean> first = scene.acquire(id, ONE, payment.mono);
        payment.assertBegun(1);
        CompletableFuture<Boolean> second = scene.acquire(id, ONE, late.mono);
        payment.succeed();
        scene.assertHeld(first);
        scene.assertHeld(second);
        late.assertBegun(0);
        scene.release(id);
    }

    @Test
    void permits_of_several_pools_are_paid_once() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer =
                scene.acquire(id, new LeaseRequest(Map.of("pool", 2, "other", 1), TTL, TTL), payment.mono);
        payment.assertBegun(1);
        assertThat(scene.inFlight()).isEqualTo(2);
        assertThat(scene.inFlight(scene.other)).isOne();
        assertThat(scene.status(id).held()).isEmpty();
        payment.succeed();
        scene.assertHeld(answer);
        assertThat(scene.status(id).held()).extracting(LeaseStatus.Held::pool).containsExactly("other", "pool");
        payment.assertBegun(1);
        scene.release(id);
    }

    @Test
    void permits_of_several_pools_that_were_not_paid_all_go_back() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer =
                scene.acquire(id, new LeaseRequest(Map.of("pool", 2, "other", 1), TTL, TTL), payment.mono);
        payment.fail();
        assertNoCredit(answer);
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.inFlight(scene.other)).isZero();
        scene.release(id);
    }

    /** The payment of a lease that has gone changes nothing any more. */
    private void assertGone(LeaseId id, CompletableFuture<Boolean> answer) {
        assertThat(scene.error(answer)).isInstanceOf(LeaseGoneException.class);
        assertThat(scene.exists(id)).isFalse();
        assertThat(scene.inFlight()).isZero();
        assertThat(scene.events).noneMatch(event -> event.startsWith("granted"));
    }

    @Test
    void a_lease_that_is_released_while_it_is_being_paid_gives_its_permits_back() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer = scene.acquire(id, ONE, payment.mono);
        scene.release(id);
        assertGone(id, answer);
        payment.succeed();
        assertGone(id, answer);
    }

    @Test
    void a_lease_that_expires_while_it_is_being_paid_gives_its_permits_back() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer = scene.acquire(id, one("pool"), payment.mono);
        scene.time.advanceBy(TTL);
        assertGone(id, answer);
        payment.fail();
        assertGone(id, answer);
    }

    @Test
    void a_lease_that_gives_its_place_back_while_it_is_being_paid_goes_on_without_permits() {
        LeaseId id = scene.opened();
        Payment payment = new Payment();
        CompletableFuture<Boolean> answer = scene.acquire(id, ONE, payment.mono);
        assertThat(scene.answer(leases.release(id, "pool"))).isTrue();
        assertThat(scene.await(answer)).isFalse();
        assertThat(scene.inFlight()).isZero();
        payment.succeed();
        assertThat(scene.status(id).held()).isEmpty();
        assertThat(scene.status(id).waiting()).isNull();
        assertThat(scene.inFlight()).isZero();
        scene.release(id);
    }
}
