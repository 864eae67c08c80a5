package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Permits that were granted before a restart, and are counted again. */
abstract class RestoreContract extends PoolTopic {

    RestoreContract(PoolBackend backend) {
        super(backend);
    }

    private HeldPermits restored(PermitPool pool, String tenant, int permits) {
        return granted(subscribe(pool.restore(request(tenant).withPermits(permits))));
    }

    private void assertTooLarge(PermitPool pool, PermitRequest request) {
        assertRefused(subscribe(pool.restore(request)), RefusalReason.TOO_LARGE);
    }

    @Test
    void restored_permits_are_held_even_if_none_is_free_and_others_wait_until_enough_have_come_back() {
        PermitPool pool = poolOf(2);
        HeldPermits first = hold(pool, "a", 2);
        TestSubscriber<HeldPermits> waiting = subscribe(pool.acquire(request("b")));
        HeldPermits restored = restored(pool, "c", 2);
        assertThat(restored.isHeld()).isTrue();
        assertThat(restored.permits()).isEqualTo(2);
        assertThat(inFlight(pool)).isEqualTo(4);
        release(first);
        assertThat(inFlight(pool)).isEqualTo(2);
        assertThat(waiting.getReceivedOnNext()).isEmpty();
        release(restored, restored);
        release(granted(waiting));
        assertThat(heard.granted).hasValue(3);
        assertThat(heard.released).hasValue(3);
    }

    @Test
    void restored_permits_count_against_the_cap_of_their_tenant() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4), with("a", ShareSettings.EQUAL.withMaxInFlight(1)));
        HeldPermits restored = restored(pool, "a", 1);
        assertThat(inFlight(pool)).isOne();
        HeldPermits other = hold(pool, "b", 1);
        TestSubscriber<HeldPermits> waiting = subscribe(pool.acquire(request("a")));
        assertThat(waiting.getReceivedOnNext()).isEmpty();
        release(restored);
        release(granted(waiting), other);
    }

    @Test
    void a_tenant_restores_no_more_than_it_could_ever_hold_together_with_what_it_holds() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(4), with("a", ShareSettings.EQUAL.withMaxInFlight(3)));
        HeldPermits others = hold(pool, "b", 4);
        assertTooLarge(pool, request("a").withPermits(4));
        HeldPermits two = restored(pool, "a", 2);
        assertTooLarge(pool, request("a").withPermits(2));
        HeldPermits one = restored(pool, "a", 1);
        assertThat(inFlight(pool)).isEqualTo(7);
        release(others, two, one);
    }

    @Test
    void all_tenants_together_restore_no_more_than_the_size_of_the_pool_even_if_some_was_released_since() {
        PermitPool pool = poolOf(3);
        HeldPermits two = restored(pool, "a", 2);
        assertTooLarge(pool, request("b").withPermits(2));
        release(two);
        assertTooLarge(pool, request("b").withPermits(2));
        HeldPermits one = restored(pool, "b", 1);
        assertThat(inFlight(pool)).isOne();
        assertTooLarge(pool, request("c"));
        release(one);
    }

    @Test
    void granted_permits_count_against_what_can_be_restored_even_if_no_request_ever_waited() {
        PermitPool pool = poolOf(2);
        HeldPermits granted = hold(pool, "a", 1);
        assertTooLarge(pool, request("a").withPermits(2));
        release(granted);
    }

    @Test
    void restored_permits_that_were_not_handed_over_come_back_when_the_subscriber_cancels() {
        PermitPool pool = poolOf(2);
        TestSubscriber<HeldPermits> requestsNothing =
                TestSubscriber.builder().initialRequest(0).build();
        pool.restore(request("a")).subscribe(requestsNothing);
        assertThat(inFlight(pool)).isOne();
        cancel(requestsNothing);
        assertThat(inFlight(pool)).isZero();
    }

    @Test
    void nothing_is_restored_before_subscription_in_a_closing_pool_or_beyond_the_largest_pool() {
        PermitPool pool = poolOf(1);
        Mono<HeldPermits> lazy = pool.restore(request("a"));
        assertThat(inFlight(pool)).isZero();
        HeldPermits held = granted(subscribe(lazy));
        assertThat(inFlight(pool)).isOne();
        assertTooLarge(pool, request("a").withPermits(PoolSettings.MAX_PERMITS));
        subscribe(pool.close(Duration.ZERO));
        assertRefused(subscribe(pool.restore(request("a"))), RefusalReason.DRAINING);
        release(held);
    }
}
