package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Embedded quotas with two clocks that a test sets separately. */
final class VirtualQuotas {
    static final TenantId ACME = TenantId.of("acme");

    private final VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
    private volatile Instant wall = Instant.parse("2026-03-10T12:00:00Z");
    final EmbeddedQuotas quotas = new EmbeddedQuotas(scheduler, () -> wall);

    /** Advances only the monotonic clock. */
    void pass(Duration time) {
        scheduler.advanceTimeBy(time);
    }

    /** Moves only the wall clock. */
    void setWallClock(String instant) {
        wall = Instant.parse(instant);
    }

    void moveWallClock(Duration time) {
        wall = wall.plus(time);
    }

    long nanos() {
        return scheduler.now(TimeUnit.NANOSECONDS);
    }

    QuotaDecision charge(long units, Quota... asked) {
        return charge(quotas.newCharge(QuotaSet.of(ACME, asked), units));
    }

    QuotaDecision charge(QuotaCharge charge) {
        return Objects.requireNonNull(charge.charge().block());
    }

    /** Charges units that must pass, and returns the charge for its settlement. */
    QuotaCharge charged(long units, Quota... asked) {
        QuotaCharge charge = quotas.newCharge(QuotaSet.of(ACME, asked), units);
        assertThat(charge(charge).allowed()).isTrue();
        return charge;
    }

    void settle(QuotaCharge charge, long actual) {
        charge.settle(actual).block();
    }

    QuotaDecision check(long units, Quota... asked) {
        return Objects.requireNonNull(
                quotas.check(QuotaSet.of(ACME, asked), units).block());
    }

    Balance balance(Quota quota) {
        return check(1, quota).balances().get(0);
    }

    long remaining(Quota quota) {
        return balance(quota).remaining();
    }

    /** Charges single units until the first refusal; returns how many passed. */
    long chargeAll(Quota quota) {
        long passed = 0;
        while (charge(1, quota).allowed()) {
            passed++;
        }
        return passed;
    }
}
