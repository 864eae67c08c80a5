package io.fairgate.benchmarks;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Bytes on the heap for one waiter, one tenant, one handle.
 *
 * @param waiter a request that waits in a pool
 * @param tenant a configured tenant with a waiting request: its name and settings, and its account in the pool
 * @param quotas the usage of two quotas of that tenant
 * @param quotaSet the prepared set of these two quotas, which a policy keeps for each of its tenants
 * @param handle what {@link PermitPool#tryAcquire} returns
 */
record MemoryUse(double waiter, double tenant, double quotas, double quotaSet, double handle) {

    static final int WAITER_LIMIT = 250;
    static final int TENANT_LIMIT = 1024;

    private static final String BENCHMARKS = "io.fairgate.benchmarks.";
    private static final String HANDLES = "io.fairgate.permit.embedded.Waiter";
    private static final Duration NEVER_REACHED = Duration.ofHours(1);
    private static final PermitRequest REQUEST = PermitRequest.of("acme").withEventLoop(Runnable::run);
    private static final Quota[] QUOTAS = {
        new Quota.Rate("burst", 20, Duration.ofSeconds(1), 20),
        new Quota.Calendar("daily", 10_000, Quota.CalendarUnit.DAY, ZoneOffset.UTC)
    };

    static MemoryUse measure(int count) {
        loadClasses();
        List<TenantId> ids = tenantIds(count);
        Histogram waiters = Histogram.of(() -> waiters(count));
        Histogram tenants = Histogram.of(() -> tenants(count));
        Histogram quotas = Histogram.of(() -> quotas(ids, new ArrayList<>()));
        Histogram withSets = Histogram.of(() -> {
            List<Object> sets = new ArrayList<>(count);
            return List.of(quotas(ids, sets), sets);
        });
        Histogram handles = Histogram.of(() -> handles(count));
        return new MemoryUse(
                waiters.total(type -> !type.startsWith(BENCHMARKS)) / (double) count,
                tenants.total(type -> !type.startsWith(BENCHMARKS)) / (double) count,
                quotas.total(type -> true) / (double) count,
                (withSets.total(type -> true) - quotas.total(type -> true)) / (double) count,
                handles.total(HANDLES::equals) / (double) count);
    }

    /** The first use of a class leaves objects on the heap, which must not be counted. */
    private static void loadClasses() {
        Histogram.of(() -> List.of(waiters(1), handles(1), tenants(1), quotas(tenantIds(1), new ArrayList<>())));
    }

    double tenantAndQuotas() {
        return tenant + quotas;
    }

    private static PermitPool waiters(int count) {
        PermitPool pool = pool(1, count);
        Listening subscriber = new Listening();
        for (int i = 0; i <= count; i++) {
            pool.withPermit(REQUEST, Mono.never()).subscribe(subscriber);
        }
        return pool;
    }

    private static List<@Nullable Object> handles(int count) {
        PermitPool pool = pool(count, 0);
        List<@Nullable Object> handles = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            handles.add(pool.tryAcquire(REQUEST));
        }
        return handles;
    }

    private static PermitPool pool(int permits, int maxWaiting) {
        PoolSettings settings = new PoolSettings(permits, maxWaiting, NEVER_REACHED, NEVER_REACHED);
        return new EmbeddedPermitPool("orders", settings, TenantShares.EQUAL);
    }

    private static FairScheduler tenants(int count) {
        Map<TenantId, ShareSettings> members = new LinkedHashMap<>();
        List<TenantId> ids = tenantIds(count);
        for (int i = 0; i < count; i++) {
            members.put(ids.get(i), ShareSettings.ofWeight(1 + i % 4));
        }
        FairScheduler scheduler =
                new FairScheduler(1, new TenantShares(members, ShareSettings.EQUAL), FairnessSettings.USUAL, 0);
        ids.forEach(id -> scheduler.enqueue(new WantedRequest(id), 0));
        return scheduler;
    }

    /** @param sets receives the sets that were charged */
    private static EmbeddedQuotas quotas(List<TenantId> ids, List<Object> sets) {
        EmbeddedQuotas quotas = new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
        for (TenantId id : ids) {
            QuotaSet set = QuotaSet.of(id, QUOTAS);
            quotas.chargeNow(set, 1);
            sets.add(set);
        }
        return quotas;
    }

    private static List<TenantId> tenantIds(int count) {
        List<TenantId> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ids.add(TenantId.of("tenant-%08d".formatted(i)));
        }
        return ids;
    }
}
