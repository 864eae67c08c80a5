package io.fairgate.replay;

import io.fairgate.permit.RefusalReason;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Sums up what each tenant got of a pool between two times. */
final class Tally {

    static final TenantUse NOTHING = new Sums().use();

    private final long from;
    private final long to;
    /** Whether requests count when they ask; otherwise they count when their wait ends. */
    private final boolean countsAsks;

    private final Map<TenantId, Sums> byTenant = new HashMap<>();

    private static final class Sums {
        private long requests;
        private int granted;
        private long left;
        private long waiting;
        private long permitNanos;
        private final Map<RefusalReason, Long> refused = new EnumMap<>(RefusalReason.class);
        private long[] waits = new long[16];

        void waited(long nanos) {
            if (granted == waits.length) {
                waits = Arrays.copyOf(waits, 2 * granted);
            }
            waits[granted++] = nanos;
        }

        TenantUse use() {
            long[] sorted = Arrays.copyOf(waits, granted);
            Arrays.sort(sorted);
            return new TenantUse(
                    requests,
                    granted,
                    left,
                    waiting,
                    refused,
                    permitNanos / 1e9,
                    quantile(sorted, 0.5),
                    quantile(sorted, 0.99));
        }

        private static Duration quantile(long[] sorted, double quantile) {
            int index = (int) Math.min(sorted.length - 1, (long) (quantile * sorted.length));
            return sorted.length == 0 ? Duration.ZERO : Duration.ofNanos(sorted[index]);
        }
    }

    Tally(long from, long to) {
        this(from, to, true);
    }

    Tally(long from, long to, boolean countsAsks) {
        this.from = from;
        this.to = to;
        this.countsAsks = countsAsks;
    }

    /** The sums of a recording, by tenant. */
    static Map<TenantId, TenantUse> of(Recorded recorded) {
        return of(recorded, true);
    }

    static Map<TenantId, TenantUse> of(Recorded recorded, boolean countsAsks) {
        Tally tally = new Tally(recorded.from(), recorded.to(), countsAsks);
        recorded.visits().forEach(tally::add);
        return tally.uses();
    }

    /** The sums of a recording, over all tenants. */
    static TenantUse ofAll(Recorded recorded, boolean countsAsks) {
        Tally tally = new Tally(recorded.from(), recorded.to(), countsAsks);
        Sums all = new Sums();
        recorded.visits().forEach(visit -> tally.add(visit, all));
        return all.use();
    }

    void add(Visit visit) {
        add(visit, byTenant.computeIfAbsent(visit.tenant(), t -> new Sums()));
    }

    private void add(Visit visit, Sums sums) {
        long begin = Math.max(from, visit.waitedUntil());
        long end = Math.min(to, visit.endedAt());
        sums.permitNanos += visit.permits() * Math.max(0, end - begin);
        long counted = countsAsks ? visit.askedAt() : visit.waitedUntil();
        if (counted < from || counted > to) {
            return;
        } else if (visit.waitedUntil() > to) {
            sums.waiting++;
            return;
        }
        sums.requests++;
        switch (visit.outcome()) {
            case HOLDS, SERVED -> sums.waited(visit.waited());
            case LEFT -> sums.left++;
            case REFUSED -> {
                RefusalReason reason = visit.refusal();
                if (reason != null) {
                    sums.refused.merge(reason, 1L, Long::sum);
                }
            }
        }
    }

    Map<TenantId, TenantUse> uses() {
        Map<TenantId, TenantUse> uses = new HashMap<>();
        byTenant.forEach((tenant, sums) -> uses.put(tenant, sums.use()));
        return uses;
    }
}
