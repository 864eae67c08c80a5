package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.QuotaCharge;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** A caller that leaves before or after the answer. */
abstract class CancelledChargeContract extends QuotaTopic {

    CancelledChargeContract(QuotasBackend backend) {
        super(backend);
    }

    @Test
    void cancelling_after_the_answer_changes_nothing() {
        QuotaCharge charge = quotas.newCharge(EACH, 4);
        Disposable subscription = charge.charge().subscribe();
        answer();
        subscription.dispose();
        answer();
        assertThat(charge.isCharged()).isTrue();
        assertSettled(EACH, 6L, 6L, 6L, 6L);
    }

    @Test
    void a_caller_that_cancels_at_whatever_step_and_settles_leaves_nothing_charged() {
        for (int step = 0; step < 20; step++) {
            QuotaCharge charge = quotas.newCharge(EACH, 4);
            Disposable subscription = charge.charge().subscribe();
            time.advanceBy(Duration.ofNanos(500L * step));
            subscription.dispose();
            charge.settle(0).subscribe();
            answer();
            assertThat(charge.isCharged()).isFalse();
            assertSettled(EACH, 10L, 10L, 10L, 10L);
        }
    }

    @Test
    void a_cancelled_check_changes_nothing() {
        quotas.check(EACH, 4).subscribe().dispose();
        quotas.balances(EACH).subscribe().dispose();
        answer();
        assertSettled(EACH, 10L, 10L, 10L, 10L);
    }
}
