package io.fairgate.spring.metrics;

import io.fairgate.permit.PoolListener;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Counts and times events as they happen. The meters that are read at a scrape are in {@link FairgateGauges}.
 * {@link TenantSeries} bounds the tenant tag: it decides which members are counted by name.
 */
public final class FairgateMeters implements PolicyParticipant, PermitPools.Watch, RefusalMeters {

    /** The value of the pool tag when no pool was involved. */
    static final String NO_POOL = "none";

    private static final Duration[] HOLD_BUCKETS =
            millis(1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000);

    /** Closer together where {@code max-wait} usually is. */
    private static final Duration[] WAIT_BUCKETS = millis(
            1, 5, 10, 25, 50, 100, 250, 500, 750, 1_000, 1_500, 2_000, 2_500, 3_500, 5_000, 7_500, 10_000, 30_000,
            60_000);

    private final PolicyHolder policy;
    private final TenantSeries series;
    private final MeterRegistry registry;
    /** The registry itself finds a meter slowly. */
    private final Map<Row, io.micrometer.core.instrument.Meter> meters = new ConcurrentHashMap<>();

    private final Map<Tags, DoubleAdder> permitSeconds = new ConcurrentHashMap<>();
    /** By the name of the pool. */
    private final Map<String, UpstreamCounts> upstream = new ConcurrentHashMap<>();

    /** What was found there, by pool and tenant tag. Replaced by an empty map whenever meters have been removed. */
    private volatile Map<String, Map<String, TenantMeters>> found = new ConcurrentHashMap<>();

    private final AtomicInteger removals = new AtomicInteger();

    private record Row(Meter meter, Tags tags) {}

    private static Duration[] millis(int... bounds) {
        return IntStream.of(bounds).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
    }

    /** @param tenants how many tenants are counted by name, beside those that the policy names */
    public FairgateMeters(PolicyHolder policy, MeterRegistry registry, int tenants, Scheduler time) {
        this.policy = policy;
        this.series = new TenantSeries(policy.current(), tenants, time);
        this.registry = registry;
    }

    TenantSeries series() {
        return series;
    }

    // ---- changes of the policy, of the pools, and of the tenants that are counted by name ----

    @Override
    public Order order() {
        return Order.METERS;
    }

    /** Removes the meters of pools and members that the policy has lost, of which each change may leave some. */
    @Override
    public void commit(Policy next) {
        series.commit(next);
        keep(tags -> isOf(tags, next));
    }

    private static boolean isOf(Tags tags, Policy policy) {
        return tags.stream().allMatch(tag -> switch (tag.getKey()) {
            case "pool" -> tag.getValue().equals(NO_POOL) || policy.pools().containsKey(tag.getValue());
            case "tenant" ->
                tag.getValue().startsWith("_") || policy.members().containsKey(TenantId.of(tag.getValue()));
            default -> true;
        });
    }

    /** Removes the meters of the last requests of the pool, which were counted after the change of the policy. */
    @Override
    public void gone(String pool) {
        upstream.remove(pool);
        removeAll("pool", pool);
    }

    /**
     * Counts a tenant under another tag, or ends its series. The permit-time until now stays with the tag before.
     *
     * @param held the permit-time so far of its current holds, in seconds, by pool
     */
    void move(TenantSeries.Move move, Map<String, Double> held) {
        String now = move.now();
        if (now == null) {
            removeAll("tenant", move.before());
            return;
        }
        held.forEach((pool, seconds) -> {
            endedPermitSeconds(poolAndTenant(pool, move.before())).add(seconds);
            endedPermitSeconds(poolAndTenant(pool, now)).add(-seconds);
        });
    }

    private void removeAll(String key, String value) {
        keep(tags -> tags.stream().noneMatch(Tag.of(key, value)::equals));
    }

    private void keep(Predicate<Tags> kept) {
        permitSeconds.keySet().removeIf(kept.negate());
        for (Row row : meters.keySet()) {
            if (!kept.test(row.tags())) {
                // One atomic step, so that no other thread is given the meter that is being removed.
                meters.computeIfPresent(row, (r, meter) -> {
                    registry.remove(meter);
                    return null;
                });
            }
        }
        // After the removal: what is found from now on is not what was removed.
        found = new ConcurrentHashMap<>();
        removals.incrementAndGet();
    }

    /** How often meters may have been removed. A meter that was found at a lower number may be one of them. */
    int removals() {
        return removals.get();
    }

    /**
     * Counts a fetch of keys that verify tokens.
     *
     * @param keys their URL or their file, without secrets
     */
    public void keySetFetched(String keys, boolean ok) {
        count(Meter.KEY_SET_FETCHES, Tags.of("keys", keys, "result", ok ? "success" : "failure"));
    }

    /** Registered at the start, so that the first loss shows as an increase. */
    @Override
    public Counter recordsLost(String log) {
        return counter(Meter.RECORDS_LOST, Tags.of("log", log));
    }

    /** Registered at the start, so that the first failure shows as an increase. */
    public Counter journalFailures() {
        return counter(Meter.JOURNAL_FAILURES, Tags.empty());
    }

    /** Requests that passed uncharged while Redis did not answer. Registered at the start, so that the first one shows as an increase. */
    public Counter quotaUncharged() {
        return counter(Meter.QUOTA_UNCHARGED, Tags.empty());
    }

    /** A lease was granted permits of a pool; one of several pools counts in each. */
    public void leaseGranted(String pool, TenantId tenant) {
        count(Meter.LEASES_GRANTED, poolAndTenant(pool, tag(tenant)));
    }

    /** A lease that held permits of a pool, or waited for some, has ended; one of several pools counts in each. */
    public void leaseEnded(String pool, TenantId tenant, String how) {
        count(Meter.LEASES_ENDED, poolAndTenant(pool, tag(tenant)).and("how", how));
    }

    public void leaseRestore(TenantId tenant, String result) {
        count(Meter.LEASE_RESTORES, Tags.of("tenant", tag(tenant), "result", result));
    }

    public void leases(String state, IntSupplier count) {
        var unused = Meter.LEASES_OPEN.register(registry, Tags.of("state", state), count::getAsInt);
    }

    @Override
    public void refused(@Nullable TenantId tenant, String reason, boolean enforced) {
        of(NO_POOL, tenant).refused(reason, enforced);
    }

    @Override
    public void failed(@Nullable String pool, @Nullable TenantPolicy tenant, String reason) {
        of(pool == null ? NO_POOL : pool, tenant == null ? null : tenant.id()).failed(reason);
        if (pool != null) {
            upstream(pool).failed(reason);
        }
    }

    private void count(Meter meter, Tags tags) {
        counter(meter, tags).increment();
    }

    Counter counter(Meter meter, Tags tags) {
        return (Counter) meters.computeIfAbsent(
                new Row(meter, tags),
                row -> Counter.builder(meter.id())
                        .description(meter.description())
                        .tags(tags)
                        .register(registry));
    }

    Timer timer(Meter meter, Tags tags) {
        return (Timer) meters.computeIfAbsent(
                new Row(meter, tags),
                row -> Timer.builder(meter.id())
                        .description(meter.description())
                        .tags(tags)
                        .serviceLevelObjectives(meter == Meter.WAIT ? WAIT_BUCKETS : HOLD_BUCKETS)
                        .register(registry));
    }

    /** The permit-time of all holds that have ended until now, in seconds, by pool and tenant. */
    public Map<Tags, Double> endedPermitSeconds() {
        Map<Tags, Double> ended = new HashMap<>();
        permitSeconds.forEach((poolAndTenant, seconds) -> ended.put(poolAndTenant, seconds.sum()));
        return ended;
    }

    DoubleAdder endedPermitSeconds(Tags poolAndTenant) {
        return permitSeconds.computeIfAbsent(poolAndTenant, t -> new DoubleAdder());
    }

    /** What has happened behind a pool. */
    public UpstreamTotals upstreamTotals(String pool) {
        return upstream(pool).totals();
    }

    private UpstreamCounts upstream(String pool) {
        return upstream.computeIfAbsent(pool, p -> new UpstreamCounts());
    }

    static Tags poolAndTenant(String pool, String tenant) {
        return Tags.of("pool", pool, "tenant", tenant);
    }

    String tag(@Nullable TenantId tenant) {
        return tenant == null ? TenantSeries.OTHER : series.tag(tenant);
    }

    @Override
    public PoolListener listenTo(String pool) {
        return new PoolMeters(pool, this, policy, upstream(pool));
    }

    /** The meters for an event of the tenant that happens now. */
    TenantMeters of(String pool, @Nullable TenantId tenant) {
        String tag = tag(tenant);
        Map<String, Map<String, TenantMeters>> known = found;
        Map<String, TenantMeters> ofPool = known.get(pool);
        if (ofPool == null) {
            ofPool = known.computeIfAbsent(pool, p -> new ConcurrentHashMap<>());
        }
        TenantMeters own = ofPool.get(tag);
        return own == null ? ofPool.computeIfAbsent(tag, t -> new TenantMeters(this, poolAndTenant(pool, t))) : own;
    }
}
