package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** When requests have used units of one quota, and what the promise of the quota says to it. Shares nothing with the code under test. */
final class UsedUnits {

    private record Use(long micros, long units) {}

    private final List<Use> uses = new ArrayList<>();

    void add(long micros, long units) {
        uses.add(new Use(micros, units));
    }

    /** Not later than that. */
    long until(long micros) {
        return uses.stream()
                .filter(use -> use.micros <= micros)
                .mapToLong(Use::units)
                .sum();
    }

    long sum() {
        return until(Long.MAX_VALUE);
    }

    /**
     * @param start what the clock of Redis shows at 0
     * @param lateMicros by how much a use may be noted too early: of rates, as much more may be used
     */
    void check(Quota quota, Instant start, long lateMicros, String where) {
        uses.sort(Comparator.comparingLong(Use::micros));
        if (quota instanceof Quota.Rate rate) {
            checkRate(rate, lateMicros, where);
        } else if (quota instanceof Quota.Sliding sliding) {
            checkSliding(sliding, where);
        } else if (quota instanceof Quota.Calendar) {
            Map<Instant, Long> days = new HashMap<>();
            for (Use use : uses) {
                Instant day = start.plus(use.micros, ChronoUnit.MICROS)
                        .atZone(ZoneOffset.UTC)
                        .truncatedTo(ChronoUnit.DAYS)
                        .toInstant();
                days.merge(day, use.units, Long::sum);
            }
            assertThat(days.values()).as(where).allMatch(used -> used <= quota.limit());
        } else {
            assertThat(sum()).as(where).isLessThanOrEqualTo(quota.limit());
        }
    }

    /** A leaky bucket, in units times microseconds. */
    private void checkRate(Quota.Rate rate, long lateMicros, String where) {
        long per = rate.per().toNanos() / 1_000;
        long level = 0;
        long at = 0;
        for (Use use : uses) {
            level = Math.max(0, level - rate.limit() * (use.micros - at)) + use.units * per;
            at = use.micros;
            assertThat(level)
                    .as("%s: used at %d us", where, at)
                    .isLessThanOrEqualTo(rate.burst() * per + rate.limit() * lateMicros);
        }
    }

    private void checkSliding(Quota.Sliding sliding, String where) {
        long within = sliding.within().toNanos() / 1_000;
        long sum = 0;
        int first = 0;
        for (Use use : uses) {
            sum += use.units;
            for (; uses.get(first).micros <= use.micros - within; first++) {
                sum -= uses.get(first).units;
            }
            assertThat(sum).as("%s: used until %d us", where, use.micros).isLessThanOrEqualTo(sliding.limit());
        }
    }
}
