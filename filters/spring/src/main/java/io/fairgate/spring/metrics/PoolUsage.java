package io.fairgate.spring.metrics;

import static io.fairgate.spring.metrics.FairgateMeters.poolAndTenant;

import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.spring.explain.PoolUse;
import io.fairgate.spring.explain.PoolUses;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.ClassStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** What is in the pools, read once for all gauges of a scrape. */
final class PoolUsage implements PoolUses {

    private static final Logger log = LoggerFactory.getLogger(PoolUsage.class);

    private static final long FRESH_NANOS = Duration.ofMillis(100).toNanos();
    private static final PoolStatus NOTHING = new PoolStatus(0, 0, 0, 0, 0, Duration.ZERO, List.of(), List.of());

    private final PermitPools pools;
    private final FairgateMeters meters;
    private final Scheduler time;
    private volatile Snapshot latest = new Snapshot(Map.of(), Map.of(), Map.of());
    private volatile long takenAt;

    /**
     * All pools at one moment.
     *
     * @param pools by name
     * @param tenants by pool, and by the tag of the tenant
     * @param ended permit-time of the holds that had ended, in seconds
     */
    private record Snapshot(
            Map<String, PoolStatus> pools,
            Map<String, Map<String, List<TenantStatus>>> tenants,
            Map<Tags, Double> ended) {}

    PoolUsage(PermitPools pools, FairgateMeters meters, Scheduler time) {
        this.pools = pools;
        this.meters = meters;
        this.time = time;
        expire();
    }

    /** Makes the next gauge that is read take a new snapshot. */
    void expire() {
        takenAt = time.now(TimeUnit.NANOSECONDS) - 2 * FRESH_NANOS;
    }

    PoolStatus of(String pool) {
        return snapshot().pools().getOrDefault(pool, NOTHING);
    }

    /** The sum over all tenants of the pool with this tag. */
    double sum(String pool, String tag, ToDoubleFunction<TenantStatus> value) {
        return sum(snapshot(), pool, tag, value);
    }

    /** The largest value of all tenants of the pool with this tag; 0 when no tenant has it. */
    double largest(String pool, String tag, ToDoubleFunction<TenantStatus> value) {
        return snapshot().tenants().getOrDefault(pool, Map.of()).getOrDefault(tag, List.of()).stream()
                .mapToDouble(value)
                .max()
                .orElse(0);
    }

    /** The value of a group; 0 while it is idle and owes nothing. */
    double ofGroup(String pool, String group, ToDoubleFunction<GroupStatus> value) {
        return of(pool).groups().stream()
                .filter(status -> status.group().equals(group))
                .mapToDouble(value)
                .findFirst()
                .orElse(0);
    }

    /** The sum over the requests of one class of all tenants. */
    double sumOfClass(String pool, Predicate<String> isOfClass, ToDoubleFunction<ClassStatus> value) {
        return classes(pool, isOfClass).mapToDouble(value).sum();
    }

    double largestOfClass(String pool, Predicate<String> isOfClass, ToDoubleFunction<ClassStatus> value) {
        return classes(pool, isOfClass).mapToDouble(value).max().orElse(0);
    }

    private Stream<ClassStatus> classes(String pool, Predicate<String> isOfClass) {
        return of(pool).tenants().stream()
                .flatMap(tenant -> tenant.classes().isEmpty()
                        ? Stream.of(new ClassStatus("", tenant.inFlight(), tenant.waiting(), tenant.oldestWait()))
                        : tenant.classes().stream())
                .filter(own -> isOfClass.test(own.name()));
    }

    private static double sum(Snapshot snapshot, String pool, String tag, ToDoubleFunction<TenantStatus> value) {
        double sum = 0;
        for (TenantStatus tenant :
                snapshot.tenants().getOrDefault(pool, Map.of()).getOrDefault(tag, List.of())) {
            sum += value.applyAsDouble(tenant);
        }
        return sum;
    }

    /** The permit-time of ended holds and of current ones, in seconds. */
    double seconds(String pool, String tag) {
        Snapshot now = snapshot();
        return now.ended().getOrDefault(poolAndTenant(pool, tag), 0.0) + sum(now, pool, tag, PoolUsage::seconds);
    }

    /** The permit-time so far of the current holds of each tenant, in seconds, by pool. */
    Mono<Map<TenantId, Map<String, Double>>> held() {
        return statuses().map(all -> {
            Map<TenantId, Map<String, Double>> held = new HashMap<>();
            all.forEach((pool, status) -> status.tenants()
                    .forEach(tenant -> held.computeIfAbsent(tenant.tenant(), t -> new HashMap<>())
                            .put(pool, seconds(tenant))));
            return held;
        });
    }

    private static double seconds(TenantStatus tenant) {
        return tenant.held().toNanos() / 1e9;
    }

    /** Empty while tenants change their tags, because the parts would not fit together. */
    @Override
    public Mono<Map<String, PoolUse>> now() {
        return Mono.defer(() -> {
            int version = meters.series().version();
            Map<Tags, Double> ended = meters.endedPermitSeconds();
            return statuses().mapNotNull(statuses -> {
                Map<String, Map<String, Double>> seconds = byPool(ended);
                Map<String, PoolUse> uses = new HashMap<>();
                statuses.forEach((pool, status) ->
                        uses.put(pool, use(status, seconds.computeIfAbsent(pool, p -> new HashMap<>()))));
                return version % 2 == 0 && version == meters.series().version() ? uses : null;
            });
        });
    }

    private static Map<String, Map<String, Double>> byPool(Map<Tags, Double> seconds) {
        Map<String, Map<String, Double>> byPool = new HashMap<>();
        seconds.forEach((tags, own) -> {
            Map<String, String> values = tags.stream().collect(Collectors.toMap(Tag::getKey, Tag::getValue));
            byPool.computeIfAbsent(values.getOrDefault("pool", ""), p -> new HashMap<>())
                    .put(values.getOrDefault("tenant", ""), own);
        });
        return byPool;
    }

    /** @param seconds gets the permit-time of current holds as well */
    private PoolUse use(PoolStatus status, Map<String, Double> seconds) {
        Map<String, List<TenantStatus>> byTag = byTag(status);
        byTag.forEach((tag, tenants) -> seconds.merge(
                tag, tenants.stream().mapToDouble(PoolUsage::seconds).sum(), Double::sum));
        return new PoolUse(status.permits(), status.inFlight(), status.waiting(), status.tenants(), seconds);
    }

    private Map<String, List<TenantStatus>> byTag(PoolStatus status) {
        TenantSeries series = meters.series();
        return status.tenants().stream().collect(Collectors.groupingBy(tenant -> series.tagNow(tenant.tenant())));
    }

    /** A pool whose backend cannot be reached keeps its latest status. */
    private Mono<Map<String, PoolStatus>> statuses() {
        Map<String, PoolStatus> before = latest.pools();
        return Flux.fromIterable(pools.all())
                .flatMap(pool -> pool.snapshot()
                        .onErrorReturn(PoolUnavailableException.class, before.getOrDefault(pool.name(), NOTHING))
                        .map(status -> Map.entry(pool.name(), status)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue);
    }

    /** Synchronized, so that no thread is given an old snapshot while another one takes a new one. */
    private synchronized Snapshot snapshot() {
        long now = time.now(TimeUnit.NANOSECONDS);
        if (now - takenAt > FRESH_NANOS) {
            takenAt = now;
            int version = meters.series().version();
            // Read before the statuses, so that no hold counts both as ended and as current.
            Map<Tags, Double> ended = meters.endedPermitSeconds();
            var unused = statuses().subscribe(statuses -> take(version, statuses, ended));
        }
        return latest;
    }

    /** Logs what must never be. */
    private static void requireAccounted(String pool, PoolStatus status) {
        if (status.accounted() != status.permits()) {
            log.error(
                    "Pool {}: {} permits are accounted for, {} of them free (expected: {}). A permit was lost, or is there twice. Restart"
                            + " the gateway, and report this with the lines of the log before it.",
                    pool,
                    status.accounted(),
                    status.free(),
                    status.permits());
        }
    }

    /** Drops a snapshot that was taken while tenants changed their tags, because its parts do not fit together. */
    private void take(int version, Map<String, PoolStatus> statuses, Map<Tags, Double> ended) {
        TenantSeries series = meters.series();
        Map<String, Map<String, List<TenantStatus>>> tenants = new HashMap<>();
        statuses.forEach((pool, status) -> {
            requireAccounted(pool, status);
            tenants.put(pool, byTag(status));
        });
        if (version % 2 == 0 && version == series.version()) {
            latest = new Snapshot(statuses, tenants, ended);
        } else {
            expire();
        }
    }
}
