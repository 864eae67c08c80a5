package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;

/** Two gateways that charge units before requests ask for them, at the script in a real Redis, on the clock of the test. */
abstract class TwoPrepayingGateways {

    static final Duration ONE_WAY = Duration.ofMillis(1);
    static final Duration GAP = Duration.ofMillis(10);
    static final Quota DAILY = new Quota.Calendar("daily", 1_000_000, CalendarUnit.DAY, ZoneOffset.UTC);

    final TestTime time = new TestTime();
    Instant start = Instant.parse("2026-03-10T12:00:00Z");
    final NearQuotas near = ledger();
    final RedisQuotas gateway = gateway("one", near);
    final NearQuotas far = ledger();
    final RedisQuotas other = gateway("two", far);

    @BeforeEach
    void clear() {
        NearQuotas.redis().flushall();
    }

    private Instant wall() {
        return start.plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    private NearQuotas ledger() {
        return new NearQuotas(time, this::wall, this::wall, ONE_WAY);
    }

    private RedisQuotas gateway(String name, NearQuotas ledger) {
        return new RedisQuotas(ledger, QuotaOutagePolicy.FAIL_CLOSED, time, name, true);
    }

    static QuotaSet set(Quota... quotas) {
        return QuotaSet.of(TenantId.of("acme"), quotas);
    }

    /** Requests of one unit, one after another; returns how many passed. */
    long send(RedisQuotas at, QuotaSet set, int requests) {
        List<CompletableFuture<QuotaDecision>> decided = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            decided.add(at.newCharge(set, 1).charge().toFuture());
            time.advanceBy(GAP);
        }
        assertThat(decided).allMatch(CompletableFuture::isDone);
        return decided.stream().filter(each -> each.join().allowed()).count();
    }

    QuotaDecision charged(QuotaCharge charge) {
        CompletableFuture<QuotaDecision> decided = charge.charge().toFuture();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        assertThat(decided).isDone();
        return decided.join();
    }

    /** By the time at which the gateways have given back what they do not use. */
    long leftLater(Quota quota) {
        time.advanceBy(PrepaidUnits.LONGEST.plus(ONE_WAY.multipliedBy(4)));
        return leftNow(quota);
    }

    long leftNow(Quota quota) {
        CompletableFuture<List<Balance>> asked = other.balances(set(quota)).toFuture();
        time.advanceBy(ONE_WAY.multipliedBy(4));
        return Objects.requireNonNull(asked.getNow(null)).get(0).remaining();
    }
}
