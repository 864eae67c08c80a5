package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotasUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Quotas whose backend cannot be reached for a while; only for backends that can be lost. */
public abstract class LostQuotasContract extends QuotaTopic {

    protected LostQuotasContract(QuotasBackend backend) {
        super(backend);
    }

    /** Cuts the connection of the quotas. */
    protected abstract void lose();

    /** Connects the quotas again. */
    protected abstract void regain();

    private void assertUnavailable(Mono<?> call) {
        assertThatThrownBy(() -> answerOf(call)).hasCauseInstanceOf(QuotasUnavailableException.class);
    }

    @Test
    void every_call_that_needs_an_answer_errors_and_is_answered_again_later() {
        QuotaCharge charge = quotas.newCharge(EACH, 4);
        lose();
        for (Mono<?> call : List.of(quotas.check(EACH, 1), quotas.balances(EACH), charge.charge())) {
            assertUnavailable(call);
        }
        assertThat(charge.isCharged()).isFalse();
        regain();
        settle(charge, 0);
        assertSettled(EACH, 10L, 10L, 10L, 10L);
        charged(EACH, 10);
    }

    @Test
    void a_caller_that_gets_an_error_at_whatever_step_and_settles_leaves_nothing_charged() {
        for (int step = 0; step < 20; step++) {
            QuotaCharge charge = quotas.newCharge(EACH, 4);
            CompletableFuture<QuotaDecision> answered = charge.charge().toFuture();
            time.advanceBy(Duration.ofNanos(500L * step));
            lose();
            answer();
            assertThat(answered).as("answered or failed").isDone();
            charge.settle(0).subscribe();
            answer();
            regain();
            answer();
            assertThat(charge.isCharged()).isFalse();
            assertSettled(EACH, 10L, 10L, 10L, 10L);
        }
    }

    @Test
    void a_settlement_is_made_when_the_quotas_can_be_reached_again() {
        QuotaCharge charge = charged(EACH, 4);
        lose();
        CompletableFuture<Void> settled = charge.settle(1).toFuture();
        answer();
        assertThat(settled).isNotDone();
        regain();
        answer();
        assertThat(settled).isCompleted();
        assertSettled(EACH, 9L, 9L, 9L, 9L);
    }
}
