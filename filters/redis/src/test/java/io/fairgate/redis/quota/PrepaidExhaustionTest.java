package io.fairgate.redis.quota;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One gateway has units at hand, another one uses all that is left, and then the first one uses what it has, after pauses of every length:
 * by the times of use, the quota is not exceeded.
 */
class PrepaidExhaustionTest {

    private static final Instant START = Instant.parse("2026-03-10T23:59:50Z");
    private static final Duration ONE_WAY = Duration.ofNanos(50_000);

    private final TestTime time = new TestTime();
    private final RedisQuotas gateway = gateway("one");
    private final RedisQuotas other = gateway("two");
    private final UsedUnits used = new UsedUnits();

    @BeforeEach
    void clear() {
        NearQuotas.redis().flushall();
    }

    private Instant wall() {
        return START.plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    private RedisQuotas gateway(String name) {
        return new RedisQuotas(
                new NearQuotas(time, this::wall, this::wall, ONE_WAY), QuotaOutagePolicy.FAIL_CLOSED, time, name, true);
    }

    static Stream<Quota> quotas() {
        return Stream.of(
                new Quota.Rate("rate", 1_000, Duration.ofSeconds(1), 1_000),
                new Quota.Calendar("daily", 100_000, CalendarUnit.DAY, ZoneOffset.UTC),
                new Quota.Calendar("daily", 2_000, CalendarUnit.DAY, ZoneOffset.UTC),
                new Quota.Total("total", 10_000));
    }

    @ParameterizedTest
    @MethodSource("quotas")
    void no_quota_is_exceeded(Quota quota) {
        QuotaSet set = QuotaSet.of(TenantId.of("acme"), quota);
        QuotaSet same = QuotaSet.of(TenantId.of("acme"), quota);
        for (int pause = 0; pause < 1_100; pause += 23) {
            exhaust(set, same, pause);
        }
        used.check(quota, START, 0, quota.toString());
    }

    private void exhaust(QuotaSet set, QuotaSet same, int pauseMillis) {
        for (int i = 0; i < 30; i++) {
            charge(gateway, set, 1);
            pass(Duration.ofMillis(1));
        }
        pass(Duration.ofMillis(pauseMillis));
        for (int units = 4_096; units > 0; units /= 2) {
            charge(other, same, units);
        }
        for (int i = 0; i < 10 && charge(gateway, set, 1 + i % 3); i++) {
            pass(Duration.ofNanos(100_000));
        }
    }

    /** Whatever comes back is used at once. */
    @Test
    void no_sliding_window_is_exceeded() {
        Duration within = Duration.ofMillis(1_800);
        Quota quota = new Quota.Sliding("sliding", 2_000, within);
        QuotaSet set = QuotaSet.of(TenantId.of("acme"), quota);
        QuotaSet same = QuotaSet.of(TenantId.of("acme"), quota);
        for (int pause = 0; pause < 70; pause += 9) {
            exhaust(set, same, pause);
            for (int i = 0; i < 250; i++) {
                while (charge(other, same, 8)) {
                    pass(ONE_WAY);
                }
                while (charge(other, same, 1)) {
                    pass(ONE_WAY);
                }
                pass(Duration.ofMillis(7));
            }
            pass(PrepaidUnits.PAUSE.plus(within));
        }
        used.check(quota, START, 0, quota.toString());
    }

    private boolean charge(RedisQuotas at, QuotaSet set, long units) {
        long asked = time.now(TimeUnit.MICROSECONDS);
        boolean[] isAllowed = new boolean[1];
        at.newCharge(set, units).charge().subscribe(decision -> {
            isAllowed[0] = decision.allowed();
            long answered = time.now(TimeUnit.MICROSECONDS);
            if (decision.allowed()) {
                used.add(answered == asked ? answered : answered - ONE_WAY.toNanos() / 1_000, units);
            }
        });
        pass(ONE_WAY.multipliedBy(4));
        return isAllowed[0];
    }

    private void pass(Duration duration) {
        time.advanceBy(duration);
    }
}
