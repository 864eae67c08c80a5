package io.fairgate.spring.metrics;

import static io.fairgate.spring.metrics.TenantSeries.OTHER;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** The gauges of quotas. */
record QuotaGauges(GaugeRows rows, Quotas quotas, Policy policy) {

    /** The tenant tag of quotas that a group shares among its tenants; their quota tag begins with its name. */
    static final String GROUP = "_group";

    /** Adds the quotas of the shown tenants, of the groups above them, and of the tenant that unknown ids share. */
    void add(Set<TenantId> shown) {
        shown.forEach(id -> add(policy.members().get(id), id.value()));
        add(policy.unknown(), OTHER);
        PoolGauges.groupsAbove(shown, policy)
                .forEach(group -> QuotaSets.own(group, policy).forEach(quota -> add(quota, GROUP)));
    }

    private void add(@Nullable TenantPolicy tenant, String tag) {
        if (tenant != null) {
            QuotaSets.own(tenant, policy).forEach(quota -> add(quota, tag));
        }
    }

    private void add(OwnedQuota quota, String tenant) {
        Tags tags = Tags.of("tenant", tenant, "quota", quota.label());
        rows.add(Meter.QUOTA_LIMIT, tags, quota, quota.quota()::limit);
        rows.add(Meter.QUOTA_CAPACITY, tags, quota, () -> capacity(quota.quota()));
        rows.add(Meter.QUOTA_REMAINING, tags, quota, remaining(QuotaSet.of(List.of(quota))));
    }

    private static double capacity(Quota quota) {
        return quota instanceof Quota.Rate rate ? rate.burst() : quota.limit();
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
