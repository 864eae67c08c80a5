package io.fairgate.spring.metrics;

import static io.fairgate.spring.metrics.TenantSeries.OTHER;

import io.fairgate.permit.PermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.shares.ShareGroups;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.SliceStatus;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The meters that are read at a scrape: the pools, their tenants, the quotas. They cost nothing between scrapes. There
 * are rows for the pools of the policy and for the shown tenants ({@link TenantSeries}), which are reviewed from time
 * to time while gauges are read. A change adds and removes some rows, and leaves the others as they are.
 */
final class FairgateGauges implements MeterBinder, PolicyParticipant {

    /** The tenant tag of quotas that a group shares among its tenants; their quota tag begins with its name. */
    private static final String GROUP = "_group";

    private static final long REVIEW_NANOS = Duration.ofSeconds(10).toNanos();

    private final PoolUsage usage;
    private final PermitPools pools;
    private final Quotas quotas;
    private final ByteBudget waitingBodies;
    private final Scheduler time;
    private final FairgateMeters meters;
    private final TenantSeries series;

    private final Map<MeterRegistry, Map<Row, io.micrometer.core.instrument.Meter>> registered = new HashMap<>();
    private final AtomicBoolean isReviewing = new AtomicBoolean();
    private volatile long reviewedAt;
    /** The latest policy that was committed; {@code PolicyHolder.current()} changes a moment later. */
    private volatile Policy policy;

    /** @param quota the quota that the row shows; null in other rows */
    private record Row(Meter meter, Tags tags, @Nullable OwnedQuota quota) {}

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
        Map<Row, DoubleSupplier> rows = rows();
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

    private Map<Row, DoubleSupplier> rows() {
        Map<Row, DoubleSupplier> rows = new LinkedHashMap<>();
        add(rows, Meter.WAITING_BODY_BYTES, Tags.empty(), waitingBodies::used);
        add(rows, Meter.WAITING_BODY_LIMIT, Tags.empty(), waitingBodies::limit);
        Set<TenantId> shown = series.shown();
        Set<TenantId> kept = series.kept();
        policy.pools().keySet().forEach(pool -> {
            addPool(rows, pool);
            addTenant(rows, pool, OTHER, () -> usage().sum(pool, OTHER, FairgateGauges::activeWeight));
            shown.forEach(id -> addTenant(rows, pool, id.value(), () -> weight(id)));
            kept.forEach(id -> addSeconds(rows, pool, id.value()));
        });
        addQuotas(rows, shown);
        return rows;
    }

    private static void add(Map<Row, DoubleSupplier> rows, Meter meter, Tags tags, DoubleSupplier value) {
        rows.put(new Row(meter, tags, null), value);
    }

    private void addPool(Map<Row, DoubleSupplier> rows, String pool) {
        Tags tags = Tags.of("pool", pool);
        add(rows, Meter.PERMITS_LIMIT, tags, () -> usage().of(pool).permits());
        add(rows, Meter.PERMITS_IN_FLIGHT, tags, () -> usage().of(pool).inFlight());
        add(rows, Meter.PERMITS_WITHOUT_CLIENT, tags, () -> pools.withoutClient(pool));
        add(rows, Meter.PERMITS_WAITING, tags, () -> usage().of(pool).waiting());
        PermitPool known = pools.get(pool);
        if (known != null && known.slice() != null) {
            addSlice(rows, known, tags);
        }
    }

    private static void addSlice(Map<Row, DoubleSupplier> rows, PermitPool pool, Tags tags) {
        addSlice(rows, Meter.SLICE_PERMITS, tags, pool, SliceStatus::permits);
        addSlice(rows, Meter.SLICE_TARGET, tags, pool, SliceStatus::target);
        addSlice(rows, Meter.SLICE_POOL_LIMIT, tags, pool, SliceStatus::poolPermits);
        addSlice(rows, Meter.SLICE_NODES, tags, pool, SliceStatus::nodes);
        addSlice(rows, Meter.SLICE_AGE, tags, pool, slice -> slice.sinceAnswer().toNanos() / 1e9);
        addSlice(
                rows,
                Meter.SLICE_ROUND_TRIP,
                tags,
                pool,
                slice -> slice.roundTrip().toNanos() / 1e9);
        addSlice(rows, Meter.SLICE_IN_FORCE, tags, pool, slice -> slice.isInForce() ? 1 : 0);
        addSlice(rows, Meter.SLICE_OUTAGE, tags, pool, slice -> slice.isOutage() ? 1 : 0);
        addSlice(rows, Meter.SLICE_RECOVERING, tags, pool, slice -> slice.isRecovering() ? 1 : 0);
        addSlice(rows, Meter.SLICE_EPOCH, tags, pool, SliceStatus::epoch);
    }

    private static void addSlice(
            Map<Row, DoubleSupplier> rows,
            Meter meter,
            Tags tags,
            PermitPool pool,
            ToDoubleFunction<SliceStatus> value) {
        add(rows, meter, tags, () -> {
            SliceStatus slice = pool.slice();
            return slice == null ? Double.NaN : value.applyAsDouble(slice);
        });
    }

    private void addTenant(Map<Row, DoubleSupplier> rows, String pool, String tag, DoubleSupplier weight) {
        Tags tags = FairgateMeters.poolAndTenant(pool, tag);
        add(rows, Meter.TENANT_IN_FLIGHT, tags, () -> usage().sum(pool, tag, TenantStatus::inFlight));
        add(rows, Meter.TENANT_WAITING, tags, () -> usage().sum(pool, tag, TenantStatus::waiting));
        add(rows, Meter.TENANT_SHARE, tags, () -> usage().sum(pool, tag, TenantStatus::share));
        add(rows, Meter.TENANT_WEIGHT, tags, weight);
        addSeconds(rows, pool, tag);
    }

    /** Shows the highest sum so far: a hold that is just ending may be missing, and a counter must not decrease. */
    private void addSeconds(Map<Row, DoubleSupplier> rows, String pool, String tag) {
        DoubleAccumulator highest = new DoubleAccumulator(Math::max, 0);
        add(rows, Meter.PERMIT_SECONDS, FairgateMeters.poolAndTenant(pool, tag), () -> {
            highest.accumulate(usage().seconds(pool, tag));
            return highest.get();
        });
    }

    /** Adds the quotas of the shown tenants, of the groups above them, and of the tenant that unknown ids share. */
    private void addQuotas(Map<Row, DoubleSupplier> rows, Set<TenantId> shown) {
        Set<String> groups = new LinkedHashSet<>();
        shown.forEach(id -> addQuotas(rows, policy.members().get(id), id.value(), groups));
        addQuotas(rows, policy.unknown(), OTHER, groups);
        groups.forEach(group -> QuotaSets.own(group, policy).forEach(quota -> addQuota(rows, quota, GROUP)));
    }

    /** @param groups gets the groups above the tenant */
    private void addQuotas(
            Map<Row, DoubleSupplier> rows, @Nullable TenantPolicy tenant, String tag, Set<String> groups) {
        if (tenant != null) {
            QuotaSets.own(tenant, policy).forEach(quota -> addQuota(rows, quota, tag));
            for (String name = tenant.parent(); name != null && groups.add(name); ) {
                ShareGroups.Group group = policy.groups().get(name);
                name = group == null ? null : group.parent();
            }
        }
    }

    private void addQuota(Map<Row, DoubleSupplier> rows, OwnedQuota quota, String tenant) {
        Tags tags = Tags.of("tenant", tenant, "quota", quota.label());
        rows.put(new Row(Meter.QUOTA_LIMIT, tags, quota), quota.quota()::limit);
        rows.put(new Row(Meter.QUOTA_REMAINING, tags, quota), remaining(QuotaSet.of(List.of(quota))));
    }

    // ---- the values ----

    private PoolUsage usage() {
        if (now() - reviewedAt > REVIEW_NANOS) {
            reviewSoon();
        }
        return usage;
    }

    private static double activeWeight(TenantStatus tenant) {
        return tenant.inFlight() + tenant.waiting() > 0 ? tenant.weight() : 0;
    }

    private double weight(TenantId member) {
        TenantPolicy tenant = policy.members().get(member);
        return tenant == null ? 0 : tenant.share().weight();
    }

    /** What is left of one quota. A backend in another process answers after the scrape, so its latest answer is shown. */
    private DoubleSupplier remaining(QuotaSet alone) {
        AtomicReference<Double> latest = new AtomicReference<>(Double.NaN);
        return () -> {
            var unused = quotas.balances(alone)
                    .onErrorComplete(QuotasUnavailableException.class)
                    .subscribe(balances -> latest.set((double) balances.get(0).remaining()));
            return latest.get();
        };
    }
}
