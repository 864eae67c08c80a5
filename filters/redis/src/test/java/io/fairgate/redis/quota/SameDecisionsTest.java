package io.fairgate.redis.quota;

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
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/**
 * The script decides as the embedded quotas do, which have oracles of their own: the same random calls, some of them in
 * one batch, on the same clock, get the same answers. Times are whole microseconds, and windows have whole parts, as both round to other units.
 */
class SameDecisionsTest {

    private static final int CALLS = 600;
    private static final Instant START = Instant.parse("2026-03-28T12:00:00Z"); // a day before Berlin's clocks change
    private static final QuotaOwner ACME = QuotaOwner.tenant(TenantId.of("acme"));
    private static final QuotaOwner GLOBEX = QuotaOwner.tenant(TenantId.of("globex"));
    private static final QuotaOwner CORP = QuotaOwner.group("corp");
    private static final Duration NO_TIME = Duration.ZERO;

    private final TestTime time = new TestTime();
    private final EmbeddedQuotas embedded = new EmbeddedQuotas(time, this::wall);
    private final Quotas shared;
    private final List<QuotaCharge[]> open = new ArrayList<>();
    private final List<QuotaSet[]> sets = new ArrayList<>();
    private final List<Runnable> comparisons = new ArrayList<>();

    SameDecisionsTest() {
        NearQuotas.redis().flushall();
        shared = new RedisQuotas(
                new NearQuotas(time, this::wall, this::wall, NO_TIME),
                QuotaOutagePolicy.FAIL_CLOSED,
                time,
                "gateway",
                false);
    }

    private Instant wall() {
        return START.plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    /** Rates, whose numbers do not change: then the one forgives at once, and the other after a while. */
    private final Quota[] rates = new Quota[3];

    /** Quotas with the same names and windows and with numbers of any size, so that they share usages. */
    private Quota quota(SplittableRandom random, int kind) {
        if (kind < rates.length && rates[kind] != null) {
            return rates[kind];
        }
        long limit = random.nextInt(4) == 0
                ? 1 + random.nextLong(random.nextBoolean() ? 1_000_000 : Quota.MAX_LIMIT)
                : 1 + random.nextLong(12);
        Quota quota = switch (kind) {
            case 0 -> new Quota.Rate("rate", limit, Duration.ofSeconds(7), 1 + random.nextLong(2 * limit));
            case 1 -> new Quota.Rate("slow", limit, Duration.ofDays(366), limit);
            case 2 -> new Quota.Rate("fast", limit, Duration.ofMillis(1), limit);
            case 3 -> new Quota.Sliding("sliding", limit, Duration.ofMinutes(6));
            case 4 -> new Quota.Sliding("short", limit, Duration.ofMillis(60));
            case 5 -> new Quota.Calendar("daily", limit, CalendarUnit.DAY, ZoneId.of("Europe/Berlin"));
            case 6 -> new Quota.Calendar("hourly", limit, CalendarUnit.HOUR, ZoneId.of("UTC"));
            case 7 ->
                new Quota.Calendar(
                        "weekly", limit, CalendarUnit.WEEK, ZoneId.of(random.nextBoolean() ? "UTC" : "Asia/Tokyo"));
            default -> new Quota.Total("total", limit);
        };
        if (kind < rates.length) {
            rates[kind] = quota;
        }
        return quota;
    }

    private QuotaSet[] set(SplittableRandom random) {
        List<OwnedQuota> quotas = new ArrayList<>();
        QuotaOwner tenant = random.nextBoolean() ? ACME : GLOBEX;
        for (int kind = 0; kind < 9; kind++) {
            if (random.nextInt(3) == 0) {
                QuotaOwner owner = random.nextInt(3) == 0 ? CORP : tenant;
                quotas.add(new OwnedQuota(owner, quota(random, kind), random.nextInt(4) != 0));
            }
        }
        // Each backend keeps something with its set.
        return new QuotaSet[] {QuotaSet.of(quotas), QuotaSet.of(quotas)};
    }

    private static long units(SplittableRandom random) {
        return random.nextInt(6) == 0
                ? 1 + random.nextLong(random.nextBoolean() ? 40 : Quota.MAX_LIMIT)
                : 1 + random.nextLong(3);
    }

    private static Duration step(SplittableRandom random) {
        long[] micros = {0, 1, 13, 999, 60_000, 1_000_000, 37_000_000, 3_600_000_000L, 86_400_000_000L};
        long most = micros[random.nextInt(micros.length)];
        return Duration.of(random.nextLong(most + 1), java.time.temporal.ChronoUnit.MICROS);
    }

    /** Of the embedded quotas, which answer at once. */
    private static <T> T now(Mono<T> call) {
        return Objects.requireNonNull(call.toFuture().getNow(null));
    }

    /** Compares the answer that comes with a later batch. */
    private <T> void later(Mono<T> call, Consumer<T> comparison) {
        CompletableFuture<T> answered = call.toFuture();
        comparisons.add(() -> comparison.accept(answered.getNow(null)));
    }

    private void compare() {
        time.runDue();
        comparisons.forEach(Runnable::run);
        comparisons.clear();
    }

    private static void assertSame(QuotaDecision actual, QuotaDecision expected, List<Balance> balances, String call) {
        assertThat(actual.allowed()).as(call).isEqualTo(expected.allowed());
        assertThat(actual.wouldRefuse()).as(call).isEqualTo(expected.wouldRefuse());
        assertSame(actual.balances(), balances, call);
    }

    private static void assertSame(List<Balance> actual, List<Balance> expected, String call) {
        assertThat(actual).as(call).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            Balance a = actual.get(i);
            Balance e = expected.get(i);
            assertThat(a.of()).as(call).isEqualTo(e.of());
            assertThat(a.remaining()).as("%s: left of %s", call, e.of()).isEqualTo(e.remaining());
            assertThat(rounded(a.untilFull(), e))
                    .as("%s: full %s", call, e.of())
                    .isEqualTo(rounded(e.untilFull(), e));
            assertThat(rounded(a.retryAfter(), e))
                    .as("%s: wait %s", call, e.of())
                    .isEqualTo(rounded(e.retryAfter(), e));
        }
    }

    /** Rates are rounded up to a microsecond by the one and to a nanosecond by the other, and windows end at a millisecond. */
    private static Object rounded(Duration duration, Balance of) {
        long nanos = of.quota() instanceof Quota.Calendar ? 1_000_000 : 1_000;
        long longest = TimeUnit.MICROSECONDS.toNanos(9_000_000_000_000_000L);
        if (duration.compareTo(Duration.ofNanos(longest)) >= 0) {
            return duration.equals(Balance.NEVER) ? "never" : "longest";
        }
        return (duration.toNanos() + nanos - 1) / nanos;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void the_same_calls_get_the_same_answers(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 12; i++) {
            sets.add(set(random));
        }
        // Parts of sliding windows begin with the first use at the one, and at 1970 at the other.
        sets.forEach(set -> now(embedded.balances(set[0])));
        for (int i = 0; i < CALLS; i++) {
            QuotaSet[] set = sets.get(random.nextInt(sets.size()));
            long units = units(random);
            String call = "seed %d, call %d: %d units of %s".formatted(seed, i, units, set[0]);
            switch (random.nextInt(8)) {
                case 0 -> {
                    compare();
                    time.advanceBy(step(random));
                }
                case 1 -> {
                    List<Balance> expected = now(embedded.balances(set[0]));
                    later(shared.balances(set[1]), actual -> assertSame(actual, expected, call));
                }
                case 2 -> {
                    QuotaDecision expected = now(embedded.check(set[0], units));
                    List<Balance> balances = expected.balances();
                    later(shared.check(set[1], units), actual -> assertSame(actual, expected, balances, call));
                }
                case 3, 4 -> settle(random);
                default -> charge(set, units, call);
            }
        }
        compare();
    }

    private void charge(QuotaSet[] set, long units, String call) {
        QuotaCharge[] charge = {embedded.newCharge(set[0], units), shared.newCharge(set[1], units)};
        QuotaDecision expected = now(charge[0].charge());
        boolean isCharged = charge[0].isCharged();
        List<Balance> balances = expected.balances();
        later(charge[1].charge(), actual -> {
            assertSame(actual, expected, balances, call);
            assertThat(charge[1].isCharged()).as(call).isEqualTo(isCharged);
            open.add(charge);
        });
    }

    private void settle(SplittableRandom random) {
        if (!open.isEmpty()) {
            QuotaCharge[] charge = open.remove(random.nextInt(open.size()));
            long actual = random.nextInt(3) == 0 ? 0 : random.nextInt(9) == 0 ? Long.MAX_VALUE : units(random);
            for (QuotaCharge each : charge) {
                each.settle(actual).subscribe();
            }
        }
    }
}
