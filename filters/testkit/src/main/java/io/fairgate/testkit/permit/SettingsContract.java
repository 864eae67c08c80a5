package io.fairgate.testkit.permit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The settings of a pool, and their changes while it is in use. */
abstract class SettingsContract extends PoolTopic {

    private static final PoolSettings TWO = PoolSettings.ofPermits(2);

    SettingsContract(PoolBackend backend) {
        super(backend);
    }

    private void change(PermitPool pool, PoolSettings settings) {
        assertThat(subscribe(pool.reconfigure(settings, TenantShares.EQUAL)).isTerminatedComplete())
                .as("in force")
                .isTrue();
        assertThat(pool.settings()).isEqualTo(settings);
    }

    @Test
    void a_change_is_in_force_when_its_answer_has_come_and_not_before_it_is_subscribed() {
        PermitPool pool = poolOf(TWO);
        PoolSettings five = PoolSettings.ofPermits(5);
        assertThat(pool.settings()).isEqualTo(TWO);
        Mono<Void> change = pool.reconfigure(five, TenantShares.EQUAL);
        answer();
        assertThat(pool.settings()).isEqualTo(TWO);
        assertThat(status(pool).permits()).isEqualTo(2);
        assertThat(subscribe(change).isTerminatedComplete()).isTrue();
        assertThat(pool.settings()).isEqualTo(five);
        assertThat(status(pool).permits()).isEqualTo(5);
        release(hold(pool, "a", 5));
    }

    @Test
    void of_several_changes_the_one_that_was_subscribed_last_stays() {
        PermitPool pool = poolOf(TWO);
        for (int permits = 3; permits <= 6; permits++) {
            pool.reconfigure(PoolSettings.ofPermits(permits), TenantShares.EQUAL)
                    .subscribe();
        }
        answer();
        assertThat(pool.settings().permits()).isEqualTo(6);
        assertThat(status(pool).permits()).isEqualTo(6);
    }

    @Test
    void a_change_that_is_cancelled_is_made_as_a_whole_or_not_at_all() {
        PermitPool pool = poolOf(TWO);
        pool.reconfigure(PoolSettings.ofPermits(5), TenantShares.EQUAL)
                .subscribe()
                .dispose();
        answer();
        assertThat(status(pool).permits()).isEqualTo(pool.settings().permits());
    }

    @Test
    void a_larger_pool_serves_requests_that_wait() {
        PermitPool pool = poolOf(1);
        Work first = new Work();
        Work second = new Work();
        run(pool, "a", first);
        run(pool, "b", second);
        change(pool, TWO);
        assertThat(second.started).hasValue(1);
        complete(first, second);
    }

    @Test
    void a_smaller_pool_revokes_nothing_and_grants_nothing_until_enough_has_come_back() {
        PermitPool pool = poolOf(3);
        HeldPermits two = hold(pool, "a", 2);
        HeldPermits one = hold(pool, "b", 1);
        Work waiting = new Work();
        run(pool, "c", waiting);
        change(pool, PoolSettings.ofPermits(1));
        PoolStatus status = status(pool);
        assertThat(status.inFlight()).isEqualTo(3);
        assertThat(status.waiting()).isOne();
        assertThat(two.isHeld()).isTrue();
        release(two);
        assertThat(waiting.started).hasValue(0);
        release(one);
        assertThat(waiting.started).hasValue(1);
        complete(waiting);
    }

    @Test
    void new_bounds_hold_for_the_next_request_and_a_request_that_waits_keeps_its_maximum_wait() {
        PermitPool pool = poolOf(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(10)));
        Work first = new Work();
        run(pool, "a", first);
        TestSubscriber<Void> before = run(pool, "a", new Work());
        change(pool, PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(1)));
        TestSubscriber<Void> after = run(pool, "b", new Work());
        pass(Duration.ofSeconds(1));
        assertRefused(after, RefusalReason.MAX_WAIT);
        assertThat(before.isTerminated()).isFalse();
        pass(Duration.ofSeconds(9));
        assertRefused(before, RefusalReason.MAX_WAIT);
        complete(first);
    }

    @Test
    void a_new_cap_holds_for_its_tenant() {
        PermitPool pool = poolOf(4);
        HeldPermits one = hold(pool, "a", 1);
        TenantShares capped = with("a", ShareSettings.EQUAL.withMaxInFlight(1));
        assertThat(subscribe(pool.reconfigure(PoolSettings.ofPermits(4), capped))
                        .isTerminatedComplete())
                .isTrue();
        assertThat(answerOf(pool.couldGrant(TenantId.of("a"), 2))).isFalse();
        TestSubscriber<HeldPermits> second = subscribe(pool.acquire(request("a")));
        assertThat(second.getReceivedOnNext()).isEmpty();
        release(one);
        release(granted(second));
    }

    @Test
    void reservations_that_do_not_fit_into_the_pool_are_refused_at_once_and_change_nothing() {
        TenantShares tooMuch = with("a", ShareSettings.EQUAL.withGuaranteed(3, 3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> poolOf(TWO, tooMuch))
                .withMessageContaining("at least 3");
        PermitPool pool = poolOf(TWO);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.reconfigure(TWO, tooMuch))
                .withMessageContaining("at least 3");
        TenantShares half = TenantShares.EQUAL.withCalculator((permits, active) -> permits / 2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.reconfigure(PoolSettings.ofPermits(1), half))
                .withMessage("calculator: 0 for 1 permits and 1 active tenants (expected: >= 1)");
        answer();
        assertThat(pool.settings()).isEqualTo(TWO);
        release(hold(pool, "a", 2));
    }
}
