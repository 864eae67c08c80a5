package io.fairgate.spring.metrics;

import io.fairgate.permit.PoolListener;
import io.fairgate.permit.RefusalReason;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times events as they happen. The meters that are read at a scrape are in {@link FairgateGauges}.
 *
 * <p>The tenant tag is bounded: {@link TenantSeries} decides which members are counted by name; all others are
 * {@code _other}.
 */
public final class FairgateMeters implements LivePolicy.Follower, PermitPools.Watch, RefusalMeters {

    /** The value of the pool tag when no pool was involved. */
    static final String NO_POOL = "none";

    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1), Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(25),
        Duration.ofMillis(50), Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofMillis(500),
        Duration.ofSeconds(1), Duration.ofMillis(2500), Duration.ofSeconds(5), Duration.ofSeconds(10),
        Duration.ofSeconds(30), Duration.ofSeconds(60)
    };

    private final LivePolicy policy;
    private final TenantSeries series;
    private final MeterRegistry registry;
    private final Map<Row, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Tags, DoubleAdder> permitSeconds = new ConcurrentHashMap<>();
    private final Map<Row, Timer> timers = new ConcurrentHashMap<>();

    private record Row(Meter meter, Tags tags) {}

    /** Shows the default number of tenants by name. */
    public FairgateMeters(LivePolicy policy, MeterRegistry registry) {
        this(
                policy,
                registry,
                new TenantSeries(policy.current(), FairgateProperties.Metrics.TENANTS, MonotonicScheduler.INSTANCE));
    }

    public FairgateMeters(LivePolicy policy, MeterRegistry registry, TenantSeries series) {
        this.policy = policy;
        this.series = series;
        this.registry = registry;
        // Registered at the start, so that the first reload shows as an increase.
        reloads("success");
        reloads("failure");
    }

    TenantSeries series() {
        return series;
    }

    private String tag(TenantId tenant) {
        return series.tag(tenant);
    }

    /**
     * Removes the meters of pools and members that the policy no longer names; otherwise each change would leave some
     * behind.
     */
    @Override
    public void follow(Policy next) {
        series.follow(next);
        keep(tags -> isOf(tags, next));
        reloads("success").increment();
    }

    /** Removes the meters of the last requests of the pool, which were counted after the change of the policy. */
    @Override
    public void gone(String pool) {
        keep(tags -> tags.stream()
                .noneMatch(tag -> tag.getKey().equals("pool") && tag.getValue().equals(pool)));
    }

    /** Removes the meters of a tenant whose series have ended. */
    void ended(TenantId tenant) {
        keep(tags -> tags.stream()
                .noneMatch(
                        tag -> tag.getKey().equals("tenant") && tag.getValue().equals(tenant.value())));
    }

    private void keep(Predicate<Tags> kept) {
        permitSeconds.keySet().removeIf(kept.negate());
        keep(counters, kept);
        keep(timers, kept);
    }

    private void keep(Map<Row, ? extends io.micrometer.core.instrument.Meter> meters, Predicate<Tags> kept) {
        for (Row row : meters.keySet()) {
            if (!kept.test(row.tags())) {
                // One atomic step, so that no other thread is given the meter that is being removed.
                meters.computeIfPresent(row, (r, meter) -> {
                    registry.remove(meter);
                    return null;
                });
            }
        }
    }

    @Override
    public void refused() {
        reloads("failure").increment();
    }

    private Counter reloads(String result) {
        return Counter.builder(Meter.POLICY_RELOADS.id())
                .description(Meter.POLICY_RELOADS.description())
                .tags("result", result)
                .register(registry);
    }

    private static boolean isOf(Tags tags, Policy policy) {
        return tags.stream().allMatch(tag -> switch (tag.getKey()) {
            case "pool" -> tag.getValue().equals(NO_POOL) || policy.pools().containsKey(tag.getValue());
            case "tenant" ->
                tag.getValue().startsWith("_") || policy.members().containsKey(TenantId.of(tag.getValue()));
            default -> true;
        });
    }

    public void keySetFetched(boolean ok) {
        count(Meter.KEY_SET_FETCHES, Tags.of("result", ok ? "success" : "failure"));
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

    public void leaseEnded(TenantId tenant, String how) {
        count(Meter.LEASES_ENDED, Tags.of("tenant", tag(tenant), "how", how));
    }

    public void leaseRestore(TenantId tenant, String result) {
        count(Meter.LEASE_RESTORES, Tags.of("tenant", tag(tenant), "result", result));
    }

    public void leases(String state, IntSupplier count) {
        Gauge.builder(Meter.LEASES_OPEN.id(), count, IntSupplier::getAsInt)
                .description(Meter.LEASES_OPEN.description())
                .tags("state", state)
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void refused(@Nullable TenantId tenant, String reason, boolean enforced) {
        refused(NO_POOL, tenant == null ? TenantSeries.OTHER : tag(tenant), reason, enforced);
    }

    @Override
    public void failed(@Nullable String pool, @Nullable TenantPolicy tenant, String reason) {
        count(
                Meter.FAILURES,
                Tags.of(
                        "pool",
                        pool == null ? NO_POOL : pool,
                        "tenant",
                        tenant == null ? TenantSeries.OTHER : tag(tenant.id()),
                        "reason",
                        reason));
    }

    private void refused(String pool, String tenant, String reason, boolean enforced) {
        count(
                Meter.REFUSALS,
                Tags.of("pool", pool, "tenant", tenant, "reason", reason, "enforced", Boolean.toString(enforced)));
    }

    private void count(Meter meter, Tags tags) {
        counter(meter, tags).increment();
    }

    /** Keeps the counters, because the registry itself finds a meter slowly. */
    private Counter counter(Meter meter, Tags tags) {
        return counters.computeIfAbsent(
                new Row(meter, tags),
                row -> Counter.builder(meter.id())
                        .description(meter.description())
                        .tags(tags)
                        .register(registry));
    }

    /** The permit-time of all holds that have ended until now, in seconds, by pool and tenant. */
    public Map<Tags, Double> endedPermitSeconds() {
        Map<Tags, Double> ended = new HashMap<>();
        permitSeconds.forEach((poolAndTenant, seconds) -> ended.put(poolAndTenant, seconds.sum()));
        return ended;
    }

    /**
     * Splits the permit-time of current holds when a tenant changes its tag: the seconds until now count for the tag
     * {@code before}, the later ones for the tag {@code now}.
     */
    void moveHeld(String pool, String before, String now, double seconds) {
        endedPermitSeconds(poolAndTenant(pool, before)).add(seconds);
        endedPermitSeconds(poolAndTenant(pool, now)).add(-seconds);
    }

    private DoubleAdder endedPermitSeconds(Tags poolAndTenant) {
        return permitSeconds.computeIfAbsent(poolAndTenant, t -> new DoubleAdder());
    }

    private static Tags poolAndTenant(String pool, String tenant) {
        return Tags.of("pool", pool, "tenant", tenant);
    }

    @Override
    public PoolListener listenTo(String pool) {
        return new Listener(pool);
    }

    private final class Listener implements PoolListener {

        private final String pool;

        Listener(String pool) {
            this.pool = pool;
        }

        @Override
        public void granted(TenantId tenant, int permits, long waitedNanos) {
            waited(tenant, "granted", waitedNanos);
        }

        @Override
        public void refused(TenantId tenant, RefusalReason reason, long waitedNanos) {
            waited(tenant, reason.label(), waitedNanos);
            FairgateMeters.this.refused(
                    pool,
                    tag(tenant),
                    reason.label(),
                    policy.current().enforcement().isOn(pool));
        }

        @Override
        public void abandoned(TenantId tenant, long waitedNanos) {
            waited(tenant, "client-left", waitedNanos);
        }

        @Override
        public void released(TenantId tenant, int permits, long heldNanos) {
            Tags tags = poolAndTenant(pool, tag(tenant));
            double seconds = permits * (heldNanos / 1e9);
            timer(Meter.HOLD, tags).record(heldNanos, TimeUnit.NANOSECONDS);
            endedPermitSeconds(tags).add(seconds);
            series.used(tenant, seconds);
        }

        private void waited(TenantId tenant, String outcome, long nanos) {
            timer(Meter.WAIT, Tags.of("pool", pool, "tenant", tag(tenant), "outcome", outcome))
                    .record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    private Timer timer(Meter meter, Tags tags) {
        return timers.computeIfAbsent(
                new Row(meter, tags),
                row -> Timer.builder(meter.id())
                        .description(meter.description())
                        .tags(tags)
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry));
    }
}
