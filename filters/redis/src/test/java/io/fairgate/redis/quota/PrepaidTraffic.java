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
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Random traffic of two tenants of a group at several gateways. */
final class PrepaidTraffic {

    private static final int REQUESTS = 1_000;
    private static final Duration LONGEST = Duration.ofSeconds(40);
    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(3);

    private final SplittableRandom random;
    private final String where;
    private final TestTime time = new TestTime();
    /** Not long before midnight, so that some days end. */
    private final Instant start;

    private final boolean isTroubled;
    /** Whether requests may cost more than they are charged at first; their debts may exceed a limit. */
    private final boolean isCostly;

    private final Duration oneWay;
    private final List<NearQuotas> networks = new ArrayList<>();
    private final List<RedisQuotas> gateways = new ArrayList<>();
    private final List<OwnedQuota> quotas = new ArrayList<>();
    private final List<UsedUnits> used = new ArrayList<>();
    private final List<CompletableFuture<Void>> settled = new ArrayList<>();
    private final List<String> shownTooMuch = new ArrayList<>();
    /** For each gateway the sets of the two tenants, as they are kept with their gateway. */
    private final List<List<QuotaSet>> sets = new ArrayList<>();

    private int requests;
    /** How many requests were decided without a call. */
    private int decidedAtOnce;

    private int gatewaysMade;

    PrepaidTraffic(long seed) {
        random = new SplittableRandom(seed);
        where = "seed " + seed;
        start = Instant.parse("2026-03-11T00:00:00Z").minusMillis(random.nextLong(20_000));
        isTroubled = random.nextInt(3) == 0;
        isCostly = random.nextInt(4) == 0;
        oneWay = random.nextBoolean() ? Duration.ZERO : Duration.ofNanos(1_000 * random.nextLong(1, 3_000));
        NearQuotas.redis().flushall();
        List<QuotaOwner> owners = List.of(
                QuotaOwner.tenant(TenantId.of("acme")),
                QuotaOwner.tenant(TenantId.of("globex")),
                QuotaOwner.group("corp"));
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            quotas.add(new OwnedQuota(owners.get(random.nextInt(3)), quota("q" + i), random.nextInt(8) != 0));
            used.add(new UsedUnits());
        }
        for (int i = random.nextInt(1, 5); i > 0; i--) {
            networks.add(null);
            gateways.add(null);
            sets.add(null);
            begin(gateways.size() - 1);
        }
    }

    int decidedAtOnce() {
        return decidedAtOnce;
    }

    private Quota quota(String name) {
        long limit = (long) Math.pow(10, random.nextDouble(2, 6));
        long millis = (long) Math.pow(10, random.nextDouble(2, 5));
        return switch (random.nextInt(6)) {
            case 0, 5 -> new Quota.Rate(name, limit, Duration.ofMillis(millis), 1 + random.nextLong(2 * limit));
            case 1, 2 -> new Quota.Sliding(name, limit, Duration.ofMillis(millis));
            case 3 -> new Quota.Calendar(name, limit, CalendarUnit.DAY, ZoneOffset.UTC);
            default -> new Quota.Total(name, limit);
        };
    }

    /** A gateway, in the place of one that was shut down. */
    private void begin(int place) {
        NearQuotas network = new NearQuotas(time, this::wall, this::wall, oneWay);
        networks.set(place, network);
        gateways.set(
                place,
                new RedisQuotas(network, QuotaOutagePolicy.FAIL_CLOSED, time, "gateway-" + gatewaysMade++, true));
        sets.set(place, List.of(setOf("acme"), setOf("globex")));
    }

    private QuotaSet setOf(String tenant) {
        return QuotaSet.of(quotas.stream()
                .filter(quota -> quota.owner().name().equals(tenant)
                        || quota.owner().name().equals("corp"))
                .toList());
    }

    private Instant wall() {
        return start.plusNanos(time.now(TimeUnit.NANOSECONDS));
    }

    private long micros() {
        return time.now(TimeUnit.MICROSECONDS);
    }

    void run() {
        while (requests < REQUESTS && micros() < LONGEST.toNanos() / 1_000) {
            phase();
        }
        networks.forEach(network -> network.isLost = network.isAnswerLost = false);
        time.advanceBy(QuotaCalls.FIRST_PATIENCE.plus(QuotaCalls.LONGEST_PAUSE).plus(LONGEST_REQUEST));
        time.advanceBy(PrepaidUnits.LONGEST.plus(QuotaCalls.PATIENCE));
        assertThat(shownTooMuch).as(where).isEmpty();
        assertThat(settled).as(where).allMatch(CompletableFuture::isDone);
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i).quota();
            String which = where + ": " + quota;
            if (quotas.get(i).enforced() && !isCostly) {
                used.get(i).check(quota, start, oneWay.toNanos() / 1_000, which);
            }
            if (quota instanceof Quota.Total) {
                assertThat(left(quotas.get(i)))
                        .as(which)
                        .isEqualTo(Math.max(0, quota.limit() - used.get(i).sum()));
            }
        }
    }

    private long left(OwnedQuota quota) {
        CompletableFuture<List<Balance>> asked =
                gateways.get(0).balances(QuotaSet.of(List.of(quota))).toFuture();
        time.advanceBy(oneWay.multipliedBy(2));
        time.runDue();
        return Objects.requireNonNull(asked.getNow(null)).get(0).remaining();
    }

    /** Some requests at one pace. */
    private void phase() {
        int count = random.nextInt(1, 300);
        long mostGap = (long) Math.pow(10, random.nextDouble(2, 4.8));
        int gateway = random.nextInt(gateways.size());
        boolean isEverywhere = random.nextBoolean();
        int mostUnits = random.nextInt(4) == 0 ? (int) Math.pow(10, random.nextDouble(1, 3)) : random.nextInt(1, 4);
        if (isTroubled) {
            networks.forEach(network -> {
                network.isLost = random.nextInt(6) == 0;
                network.isAnswerLost = random.nextInt(6) == 0;
            });
        } else if (random.nextInt(4) == 0) {
            gateways.get(gateway).stopPrepaying();
            begin(gateway);
        }
        for (int i = 0; i < count && requests < REQUESTS; i++) {
            request(isEverywhere ? random.nextInt(gateways.size()) : gateway, 1 + random.nextInt(mostUnits));
            if (random.nextInt(3) != 0) {
                time.advanceBy(Duration.ofNanos(1_000 * random.nextLong(mostGap)));
            }
            time.runDue();
        }
    }

    private void request(int gateway, long units) {
        requests++;
        QuotaSet set = sets.get(gateway).get(random.nextInt(2));
        if (set.isEmpty()) {
            return;
        }
        QuotaCharge charge = gateways.get(gateway).newCharge(set, units);
        long asked = micros();
        boolean isCancelled = random.nextInt(20) == 0;
        long actual = random.nextInt(5) == 0 ? random.nextLong((isCostly ? 2 : 1) * units + 1) : units;
        charge.charge()
                .subscribe(decision -> decided(set, charge, decision, asked, actual), failure -> settle(charge, 0));
        if (isCancelled && !charge.isCharged()) {
            settle(charge, 0);
        }
    }

    private void decided(QuotaSet set, QuotaCharge charge, QuotaDecision decision, long asked, long actual) {
        if (!decision.allowed() || !charge.isCharged()) {
            return;
        }
        long answered = micros();
        if (answered == asked && !oneWay.isZero()) {
            decidedAtOnce++;
        }
        long at = answered == asked ? answered : answered - oneWay.toNanos() / 1_000;
        for (OwnedQuota each : set.quotas()) {
            boolean isCharged = each.enforced() || decision.wouldRefuse().isEmpty();
            if (isCharged) {
                used.get(quotas.indexOf(each)).add(at, actual);
            }
        }
        for (Balance balance : decision.balances()) {
            checkShown(balance, answered);
        }
        long millis = random.nextBoolean() ? 0 : random.nextLong(LONGEST_REQUEST.toMillis());
        var unused = time.schedule(() -> settle(charge, actual), millis, TimeUnit.MILLISECONDS);
    }

    /** Never more than what was left a second ago, without what has come back since. */
    private void checkShown(Balance balance, long now) {
        if (balance.quota() instanceof Quota.Total && !isCostly) {
            long before =
                    now - (PrepaidUnits.LONGEST.plus(oneWay.multipliedBy(2)).toNanos() / 1_000);
            long left = balance.quota().limit()
                    - used.get(quotas.indexOf(balance.of())).until(before);
            if (balance.remaining() > left) {
                shownTooMuch.add("%s of at most %d at %d us".formatted(balance, left, now));
            }
        }
    }

    private void settle(QuotaCharge charge, long actual) {
        settled.add(charge.settle(actual).toFuture());
    }
}
