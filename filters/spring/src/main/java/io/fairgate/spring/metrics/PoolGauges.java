package io.fairgate.spring.metrics;

import static io.fairgate.spring.metrics.TenantSeries.OTHER;

import io.fairgate.permit.PermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.shares.ShareGroups;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolStatus.ClassStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.SliceStatus;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.function.DoubleSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The gauges of the pools: of all of a pool, of its tenants, of the groups above the shown tenants, and of the classes. */
record PoolGauges(GaugeRows rows, Supplier<PoolUsage> usage, PermitPools pools, Supplier<Policy> latest) {

    /** The class tag of requests without a class, or of one that the policy has lost. */
    static final String NO_CLASS = "_none";

    /** @param kept tenants whose counters stand still */
    void add(Set<TenantId> shown, Set<TenantId> kept) {
        Policy policy = latest.get();
        Set<String> groups = groupsAbove(shown, policy);
        policy.pools().keySet().forEach(pool -> {
            addPool(pool);
            addTenant(pool, OTHER, () -> usage.get().sum(pool, OTHER, PoolGauges::activeWeight));
            shown.forEach(id -> addTenant(pool, id.value(), () -> weight(id)));
            kept.forEach(id -> addSeconds(pool, id.value()));
            groups.forEach(group -> addGroup(pool, group));
            if (!policy.classes().isEmpty()) {
                policy.classes().keySet().forEach(name -> addClass(pool, name, name::equals));
                addClass(pool, NO_CLASS, name -> !latest.get().classes().containsKey(name));
            }
        });
    }

    /** The groups that these tenants, and the tenant that unknown ids share, are in, directly or not. */
    static Set<String> groupsAbove(Set<TenantId> tenants, Policy policy) {
        Set<String> groups = new LinkedHashSet<>();
        addGroupsAbove(policy.unknown(), policy, groups);
        tenants.forEach(id -> addGroupsAbove(policy.members().get(id), policy, groups));
        return groups;
    }

    private static void addGroupsAbove(@Nullable TenantPolicy tenant, Policy policy, Set<String> groups) {
        String name = tenant == null ? null : tenant.parent();
        while (name != null && groups.add(name)) {
            ShareGroups.Group group = policy.groups().get(name);
            name = group == null ? null : group.parent();
        }
    }

    private void addPool(String pool) {
        Tags tags = Tags.of("pool", pool);
        rows.add(Meter.PERMITS_LIMIT, tags, () -> usage.get().of(pool).permits());
        rows.add(Meter.PERMITS_IN_FLIGHT, tags, () -> usage.get().of(pool).inFlight());
        rows.add(Meter.PERMITS_ACCOUNTED, tags, () -> usage.get().of(pool).accounted());
        rows.add(Meter.PERMITS_WITHOUT_CLIENT, tags, () -> pools.withoutClient(pool));
        rows.add(Meter.PERMITS_WAITING, tags, () -> usage.get().of(pool).waiting());
        PermitPool known = pools.get(pool);
        if (known != null && known.slice() != null) {
            addSlice(known, tags);
        }
    }

    private void addSlice(PermitPool pool, Tags tags) {
        addSlice(Meter.SLICE_PERMITS, tags, pool, SliceStatus::permits);
        addSlice(Meter.SLICE_TARGET, tags, pool, SliceStatus::target);
        addSlice(Meter.SLICE_POOL_LIMIT, tags, pool, SliceStatus::poolPermits);
        addSlice(Meter.SLICE_NODES, tags, pool, SliceStatus::nodes);
        addSlice(Meter.SLICE_AGE, tags, pool, slice -> seconds(slice.sinceAnswer()));
        addSlice(Meter.SLICE_ROUND_TRIP, tags, pool, slice -> seconds(slice.roundTrip()));
        addSlice(Meter.SLICE_IN_FORCE, tags, pool, slice -> slice.isInForce() ? 1 : 0);
        addSlice(Meter.SLICE_OUTAGE, tags, pool, slice -> slice.isOutage() ? 1 : 0);
        addSlice(Meter.SLICE_RECOVERING, tags, pool, slice -> slice.isRecovering() ? 1 : 0);
        addSlice(Meter.SLICE_EPOCH, tags, pool, SliceStatus::epoch);
    }

    private void addSlice(Meter meter, Tags tags, PermitPool pool, ToDoubleFunction<SliceStatus> value) {
        rows.add(meter, tags, () -> {
            SliceStatus slice = pool.slice();
            return slice == null ? Double.NaN : value.applyAsDouble(slice);
        });
    }

    private void addTenant(String pool, String tag, DoubleSupplier weight) {
        Tags tags = FairgateMeters.poolAndTenant(pool, tag);
        rows.add(Meter.TENANT_IN_FLIGHT, tags, () -> usage.get().sum(pool, tag, TenantStatus::inFlight));
        rows.add(Meter.TENANT_WAITING, tags, () -> usage.get().sum(pool, tag, TenantStatus::waiting));
        rows.add(Meter.TENANT_SHARE, tags, () -> usage.get().sum(pool, tag, TenantStatus::share));
        rows.add(Meter.TENANT_WEIGHT, tags, weight);
        rows.add(Meter.TENANT_LAG, tags, () -> usage.get().largest(pool, tag, tenant -> seconds(tenant.lag())));
        rows.add(
                Meter.TENANT_OLDEST_WAIT,
                tags,
                () -> usage.get().largest(pool, tag, tenant -> seconds(tenant.oldestWait())));
        addSeconds(pool, tag);
    }

    /** Shows the highest sum so far: a hold that is just ending may be missing, and a counter must not decrease. */
    private void addSeconds(String pool, String tag) {
        DoubleAccumulator highest = new DoubleAccumulator(Math::max, 0);
        rows.add(Meter.PERMIT_SECONDS, FairgateMeters.poolAndTenant(pool, tag), () -> {
            highest.accumulate(usage.get().seconds(pool, tag));
            return highest.get();
        });
    }

    private void addGroup(String pool, String group) {
        addGroup(Meter.GROUP_IN_FLIGHT, pool, group, GroupStatus::inFlight);
        addGroup(Meter.GROUP_WAITING, pool, group, GroupStatus::waiting);
        addGroup(Meter.GROUP_SHARE, pool, group, GroupStatus::share);
        addGroup(Meter.GROUP_LAG, pool, group, status -> seconds(status.lag()));
        addGroup(Meter.GROUP_OLDEST_WAIT, pool, group, status -> seconds(status.oldestWait()));
    }

    private void addGroup(Meter meter, String pool, String group, ToDoubleFunction<GroupStatus> value) {
        rows.add(meter, Tags.of("pool", pool, "group", group), () -> usage.get().ofGroup(pool, group, value));
    }

    private void addClass(String pool, String tag, Predicate<String> isOfClass) {
        Tags tags = Tags.of("pool", pool, "class", tag);
        rows.add(Meter.CLASS_IN_FLIGHT, tags, () -> usage.get().sumOfClass(pool, isOfClass, ClassStatus::inFlight));
        rows.add(Meter.CLASS_WAITING, tags, () -> usage.get().sumOfClass(pool, isOfClass, ClassStatus::waiting));
        rows.add(
                Meter.CLASS_OLDEST_WAIT,
                tags,
                () -> usage.get().largestOfClass(pool, isOfClass, status -> seconds(status.oldestWait())));
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static double activeWeight(TenantStatus tenant) {
        return tenant.inFlight() + tenant.waiting() > 0 ? tenant.weight() : 0;
    }

    private double weight(TenantId member) {
        TenantPolicy tenant = latest.get().members().get(member);
        return tenant == null ? 0 : tenant.share().weight();
    }
}
