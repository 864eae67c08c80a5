package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** One topic of the contract of quotas: the clocks, the quotas and the steps that its tests have in common. */
abstract class QuotaTopic {

    static final TenantId TENANT = TenantId.of("acme");
    static final QuotaOwner ACME = QuotaOwner.tenant(TENANT);
    static final QuotaOwner GLOBEX = QuotaOwner.tenant(TenantId.of("globex"));
    static final QuotaOwner CORP = QuotaOwner.group("corp");

    /** One of each kind. A unit of the rate comes back each hour, so that the time of a few answers returns none. */
    static final Quota RATE = new Quota.Rate("rate", 10, Duration.ofHours(10), 10);

    static final Quota SLIDING = new Quota.Sliding("sliding", 10, Duration.ofMinutes(60));
    static final Quota DAILY = new Quota.Calendar("daily", 10, CalendarUnit.DAY, ZoneOffset.UTC);
    static final Quota TOTAL = new Quota.Total("total", 10);
    static final QuotaSet EACH = QuotaSet.of(TENANT, RATE, SLIDING, DAILY, TOTAL);

    private static final Instant START = Instant.parse("2026-03-10T12:00:00Z");

    final TestTime time = new TestTime();
    final Quotas quotas;
    private final QuotasBackend backend;

    QuotaTopic(QuotasBackend backend) {
        this.backend = backend;
        this.quotas = backend.newQuotas(time, () -> START.plusNanos(time.now(TimeUnit.NANOSECONDS)));
    }

    static QuotaSet setOf(OwnedQuota... quotas) {
        return QuotaSet.of(List.of(quotas));
    }

    static OwnedQuota enforced(QuotaOwner owner, Quota quota) {
        return new OwnedQuota(owner, quota, true);
    }

    static OwnedQuota dryRun(QuotaOwner owner, Quota quota) {
        return new OwnedQuota(owner, quota, false);
    }

    static Quota total(String name, long limit) {
        return new Quota.Total(name, limit);
    }

    // ---- steps: each returns when the quotas have answered ----

    final void answer() {
        backend.answer(time);
    }

    final void giveBackUnused() {
        backend.giveBackUnused(time);
    }

    final long chargedAhead(long limit) {
        return backend.chargedAhead(limit);
    }

    final <T> T answerOf(Mono<T> call) {
        CompletableFuture<T> answered = call.toFuture();
        answer();
        assertThat(answered).as("the answer").isDone();
        return answered.join();
    }

    final QuotaDecision check(QuotaSet set, long units) {
        return answerOf(quotas.check(set, units));
    }

    final QuotaDecision charge(QuotaSet set, long units) {
        return answerOf(quotas.newCharge(set, units).charge());
    }

    /** Charges units that pass, and returns what can be settled. */
    final QuotaCharge charged(QuotaSet set, long units) {
        QuotaCharge charge = quotas.newCharge(set, units);
        assertThat(answerOf(charge.charge()).allowed()).as("charged").isTrue();
        assertThat(charge.isCharged()).isTrue();
        return charge;
    }

    final void settle(QuotaCharge charge, long actual) {
        answerOf(charge.settle(actual));
    }

    // ---- what holds then ----

    final List<Long> remaining(QuotaSet set) {
        return answerOf(quotas.balances(set)).stream().map(Balance::remaining).toList();
    }

    final void assertRemaining(QuotaSet set, Long... units) {
        assertThat(remaining(set)).containsExactly(units);
    }

    /** After a settlement. A rate may keep one unit: time returns parts of a unit, and a settlement returns whole units. */
    final void assertSettled(QuotaSet set, Long... units) {
        List<Long> remaining = remaining(set);
        assertThat(remaining).hasSameSizeAs(units);
        for (int i = 0; i < units.length; i++) {
            boolean isRate = set.quotas().get(i).quota() instanceof Quota.Rate;
            assertThat(remaining.get(i))
                    .as("%s", set.quotas().get(i).label())
                    .isBetween(units[i] - (isRate ? 1 : 0), units[i]);
        }
    }
}
