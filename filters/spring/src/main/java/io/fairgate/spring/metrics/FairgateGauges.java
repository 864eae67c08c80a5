package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleSupplier;
import reactor.core.scheduler.Scheduler;

/**
 * The meters that are read at a scrape: the pools, their tenants, the quotas. They cost nothing between scrapes. There
 * are rows for the pools of the policy and for the shown tenants ({@link TenantSeries}), which are reviewed from time
 * to time while gauges are read. A change adds and removes some rows, and leaves the others as they are.
 */
final class FairgateGauges implements MeterBinder, PolicyParticipant {

    private static final long REVIEW_NANOS = Duration.ofSeconds(10).toNanos();

    private final PoolUsage usage;
    private final PermitPools pools;
    private final Quotas quotas;
    private final ByteBudget waitingBodies;
    private final Scheduler time;
    private final FairgateMeters meters;
    private final TenantSeries series;

    private final Map<MeterRegistry, Map<GaugeRows.Row, io.micrometer.core.instrument.Meter>> registered =
            new HashMap<>();
    private final AtomicBoolean isReviewing = new AtomicBoolean();
    private volatile long reviewedAt;
    /** The latest policy that was committed; {@code PolicyHolder.current()} changes a moment later. */
    private volatile Policy policy;

    FairgateGauges(
            Policy policy,
            PermitPools pools,
            Quotas quotas,
            ByteBudget waitingBodies,
            FairgateMeters meters,
            Scheduler time) {
        this.policy = policy;
        this.usage = new PoolUsage(pools, meters, time);
        this.pools = pools;
        this.quotas = quotas;
        this.waitingBodies = waitingBodies;
        this.meters = meters;
        this.series = meters.series();
        this.time = time;
        this.reviewedAt = now();
        series.whenChanged(this::reviewSoon);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        registered.put(registry, new HashMap<>());
        showRows();
    }

    @Override
    public Order order() {
        return Order.GAUGES;
    }

    @Override
    public synchronized void commit(Policy next) {
        policy = next;
        showRows();
        reviewSoon();
    }

    // ---- which tenants are shown ----

    private void reviewSoon() {
        if (isReviewing.compareAndSet(false, true)) {
            var unused = usage.held()
                    // The caller is an event loop, or is writing the page that the review would change.
                    .subscribeOn(time)
                    // A snapshot may come on an event loop.
                    .publishOn(time)
                    // Changes from here on are for the next review.
                    .doOnTerminate(() -> isReviewing.set(false))
                    .subscribe(this::review);
        }
    }

    private synchronized void review(Map<TenantId, Map<String, Double>> held) {
        reviewedAt = now();
        series.review(held, move -> meters.move(move, held.getOrDefault(move.tenant(), Map.of())));
        showRows();
    }

    // ---- the rows ----

    private void showRows() {
        usage.expire();
        Map<GaugeRows.Row, DoubleSupplier> rows = rows();
        registered.forEach((registry, shown) -> {
            shown.entrySet().removeIf(row -> {
                boolean gone = !rows.containsKey(row.getKey());
                if (gone) {
                    registry.remove(row.getValue());
                }
                return gone;
            });
            rows.forEach((row, value) ->
                    shown.computeIfAbsent(row, r -> row.meter().register(registry, row.tags(), value)));
        });
    }

    private Map<GaugeRows.Row, DoubleSupplier> rows() {
        GaugeRows rows = new GaugeRows();
        rows.add(Meter.WAITING_BODY_BYTES, Tags.empty(), waitingBodies::used);
        rows.add(Meter.WAITING_BODY_LIMIT, Tags.empty(), waitingBodies::limit);
        Set<TenantId> shown = series.shown();
        new PoolGauges(rows, this::usage, pools, () -> policy).add(shown, series.kept());
        new QuotaGauges(rows, quotas, policy).add(shown);
        return rows.values();
    }

    private PoolUsage usage() {
        if (now() - reviewedAt > REVIEW_NANOS) {
            reviewSoon();
        }
        return usage;
    }
}
