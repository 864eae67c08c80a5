package io.fairgate.spring.metrics;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.ShareGroups;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.spring.fairshare.ByteBudget;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PermitsWithoutClient;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/**
 * Gauges that are read at a scrape: the pools, their tenants, the quotas. They cost nothing between scrapes. One
 * snapshot of a pool serves all gauges of a scrape.
 *
 * <p>There are rows for the pools of the policy and for the tenants that are shown ({@link TenantSeries}). While gauges
 * are read, the shown tenants are reviewed from time to time. A change adds and removes some rows, and leaves the
 * others as they are.
 */
final class FairgateGauges implements MeterBinder, LivePolicy.Follower {

    /**
     * The tenant tag of quotas that the tenants of a group share; their quota tag begins with the name of the group.
     */
    private static final String GROUP = "_group";

    private static final long FRESH_NANOS = Duration.ofMillis(100).toNanos();
    private static final long REVIEW_NANOS = Duration.ofSeconds(10).toNanos();

    private final PermitPools pools;
    private final PermitsWithoutClient withoutClient;
    private final Quotas quotas;
    private final ByteBudget waitingBodies;
    private final Scheduler time;
    private final FairgateMeters meters;
    private final TenantSeries series;

    private final List<Rows> bound = new ArrayList<>();
    private final AtomicBoolean isReviewing = new AtomicBoolean();
    private volatile long reviewedAt;
    /** The latest policy that {@link #follow} was given; {@link LivePolicy#current} changes a moment later. */
    private volatile Policy policy;

    FairgateGauges(
            LivePolicy policy,
            PermitPools pools,
            PermitsWithoutClient withoutClient,
            Quotas quotas,
            ByteBudget waitingBodies,
            FairgateMeters meters,
            Scheduler time) {
        this.policy = policy.current();
        this.pools = pools;
        this.withoutClient = withoutClient;
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
        Rows rows = new Rows(registry);
        rows.follow(policy);
        bound.add(rows);
        gauge(registry, Meter.WAITING_BODY_BYTES, Tags.empty(), waitingBodies, ByteBudget::used);
        gauge(registry, Meter.WAITING_BODY_LIMIT, Tags.empty(), waitingBodies, ByteBudget::limit);
    }

    @Override
    public synchronized void follow(Policy next) {
        policy = next;
        bound.forEach(rows -> rows.follow(next));
        reviewSoon();
    }

    // ---- which tenants are shown ----

    /**
     * Schedules the review on another thread: the caller is an event loop, or is writing the page that the review would
     * change.
     */
    private void reviewSoon() {
        if (isReviewing.compareAndSet(false, true)) {
            var unused = time.schedule(this::review);
        }
    }

    private void review() {
        var unused = Flux.fromIterable(pools.all())
                .concatMap(pool -> pool.snapshot().map(status -> Map.entry(pool.name(), status)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue)
                // A snapshot may come on an event loop.
                .publishOn(time)
                // Changes from here on are for the next review.
                .doOnTerminate(() -> isReviewing.set(false))
                // While a pool cannot be reached, the tenants that are shown stay the same.
                .onErrorComplete(PoolUnavailableException.class)
                .subscribe(this::review);
    }

    private synchronized void review(Map<String, PoolStatus> pools) {
        reviewedAt = now();
        Map<TenantId, Double> held = new HashMap<>();
        pools.values()
                .forEach(pool ->
                        pool.tenants().forEach(tenant -> held.merge(tenant.tenant(), seconds(tenant), Double::sum)));
        series.review(held, new TenantSeries.Move() {
            @Override
            public void counted(TenantId tenant, String before, String now) {
                pools.forEach((name, pool) -> pool.tenants().stream()
                        .filter(each -> each.tenant().equals(tenant))
                        .forEach(each -> meters.moveHeld(name, before, now, seconds(each))));
            }

            @Override
            public void ended(TenantId tenant) {
                meters.ended(tenant);
            }
        });
        bound.forEach(rows -> rows.follow(policy));
    }

    private static double seconds(TenantStatus tenant) {
        return tenant.held().toNanos() / 1e9;
    }

    /** The latest answer: a backend in another process answers after this. */
    private double remaining(QuotaRow row) {
        var unused = quotas.balances(row.alone)
                .onErrorComplete(QuotasUnavailableException.class)
                .subscribe(balances -> row.remaining = balances.get(0).remaining());
        return row.remaining;
    }

    private static <T> Gauge gauge(
            MeterRegistry registry, Meter meter, Tags tags, T source, ToDoubleFunction<T> value) {
        return Gauge.builder(meter.id(), source, value)
                .description(meter.description())
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    /** The meters of one registry, by their tags. */
    private final class Rows {

        private final MeterRegistry registry;
        private final Map<String, Look> looks = new HashMap<>();
        private final Map<Tags, List<io.micrometer.core.instrument.Meter>> rows = new HashMap<>();
        /** The counters of permit-time, which stay for tenants that were shown and are kept. */
        private final Map<Tags, List<io.micrometer.core.instrument.Meter>> used = new HashMap<>();

        private final Map<Tags, QuotaRow> quotaRows = new HashMap<>();

        Rows(MeterRegistry registry) {
            this.registry = registry;
        }

        void follow(Policy next) {
            Set<Tags> wanted = new HashSet<>();
            Set<Tags> wantedUsed = new HashSet<>();
            Set<TenantId> shown = series.shown();
            Set<TenantId> kept = series.kept();
            looks.keySet().retainAll(next.pools().keySet());
            next.pools().keySet().forEach(name -> {
                PermitPool pool = pools.get(name);
                if (pool != null) {
                    // A pool that was removed and added again is another object, and its rows are registered anew.
                    Look look = looks.computeIfAbsent(name, n -> new Look(pool));
                    look.takeAnew();
                    addPool(wanted, look);
                    addTenant(wanted, look, TenantSeries.OTHER, l -> l.of(TenantSeries.OTHER, TenantsNow::weight));
                    addUsed(wantedUsed, look, TenantSeries.OTHER);
                    shown.forEach(id -> {
                        addTenant(wanted, look, id.value(), l -> weight(id));
                        addUsed(wantedUsed, look, id.value());
                    });
                    kept.forEach(id -> addUsed(wantedUsed, look, id.value()));
                }
            });
            addQuotas(wanted, shown, next);
            quotaRows.keySet().retainAll(wanted);
            keep(rows, wanted);
            keep(used, wantedUsed);
        }

        private void keep(Map<Tags, List<io.micrometer.core.instrument.Meter>> rows, Set<Tags> wanted) {
            rows.entrySet().removeIf(row -> {
                boolean gone = !wanted.contains(row.getKey());
                if (gone) {
                    row.getValue().forEach(registry::remove);
                }
                return gone;
            });
        }

        private void addPool(Set<Tags> wanted, Look look) {
            Tags tags = Tags.of("pool", look.pool.name());
            wanted.add(tags);
            rows.computeIfAbsent(
                    tags,
                    t -> List.of(
                            gauge(
                                    registry,
                                    Meter.PERMITS_LIMIT,
                                    t,
                                    look,
                                    l -> l.status().permits()),
                            gauge(
                                    registry,
                                    Meter.PERMITS_IN_FLIGHT,
                                    t,
                                    look,
                                    l -> l.status().inFlight()),
                            gauge(
                                    registry,
                                    Meter.PERMITS_WITHOUT_CLIENT,
                                    t,
                                    withoutClient,
                                    w -> w.of(look.pool.name())),
                            gauge(
                                    registry,
                                    Meter.PERMITS_WAITING,
                                    t,
                                    look,
                                    l -> l.status().waiting())));
        }

        private void addTenant(Set<Tags> wanted, Look look, String tag, ToDoubleFunction<Look> weight) {
            Tags tags = Tags.of("pool", look.pool.name(), "tenant", tag);
            wanted.add(tags);
            rows.computeIfAbsent(
                    tags,
                    t -> List.of(
                            gauge(registry, Meter.TENANT_IN_FLIGHT, t, look, l -> l.of(tag, TenantsNow::inFlight)),
                            gauge(registry, Meter.TENANT_WAITING, t, look, l -> l.of(tag, TenantsNow::waiting)),
                            gauge(registry, Meter.TENANT_SHARE, t, look, l -> l.of(tag, TenantsNow::share)),
                            gauge(registry, Meter.TENANT_WEIGHT, t, look, weight)));
        }

        private void addUsed(Set<Tags> wanted, Look look, String tag) {
            Tags tags = Tags.of("pool", look.pool.name(), "tenant", tag);
            wanted.add(tags);
            used.computeIfAbsent(tags, t -> {
                // The counter refers to its object only weakly, so the object must be the look, which stays.
                UsedPermitTime seconds = new UsedPermitTime(look, tag, t);
                return List.of(FunctionCounter.builder(Meter.PERMIT_SECONDS.id(), look, l -> seconds.seconds())
                        .description(Meter.PERMIT_SECONDS.description())
                        .tags(t)
                        .register(registry));
            });
        }

        /** Adds the quotas of the shown tenants, of the groups above them, and of the tenant that unknown ids share. */
        private void addQuotas(Set<Tags> wanted, Set<TenantId> shown, Policy next) {
            Set<String> groups = new LinkedHashSet<>();
            shown.forEach(id -> {
                TenantPolicy tenant = next.members().get(id);
                if (tenant != null) {
                    QuotaSets.own(tenant, next).forEach(quota -> addQuota(wanted, quota, id.value()));
                    addGroups(groups, tenant.parent(), next);
                }
            });
            TenantPolicy unknown = next.unknown();
            if (unknown != null) {
                QuotaSets.own(unknown, next).forEach(quota -> addQuota(wanted, quota, TenantSeries.OTHER));
                addGroups(groups, unknown.parent(), next);
            }
            groups.forEach(group -> QuotaSets.own(group, next).forEach(quota -> addQuota(wanted, quota, GROUP)));
        }

        private static void addGroups(Set<String> groups, @Nullable String parent, Policy next) {
            for (String name = parent; name != null && groups.add(name); ) {
                ShareGroups.Group group = next.groups().get(name);
                name = group == null ? null : group.parent();
            }
        }

        private void addQuota(Set<Tags> wanted, OwnedQuota quota, String tenant) {
            Tags tags = Tags.of("tenant", tenant, "quota", quota.label());
            wanted.add(tags);
            quotaRows.computeIfAbsent(tags, t -> new QuotaRow()).alone = QuotaSet.of(List.of(quota));
            rows.computeIfAbsent(tags, t -> {
                QuotaRow row = Objects.requireNonNull(quotaRows.get(t));
                return List.of(
                        gauge(registry, Meter.QUOTA_LIMIT, t, row, QuotaRow::limit),
                        gauge(registry, Meter.QUOTA_REMAINING, t, row, q -> remaining(q)));
            });
        }
    }

    private double weight(TenantId member) {
        TenantPolicy tenant = policy.members().get(member);
        return tenant == null ? 0 : tenant.share().weight();
    }

    /** One quota, under the latest policy. */
    private static final class QuotaRow {
        private volatile QuotaSet alone = QuotaSet.NONE;
        private volatile double remaining = Double.NaN;

        double limit() {
            return alone.quotas().get(0).quota().limit();
        }
    }

    /** The permit-time of ended holds and of current ones. */
    private static final class UsedPermitTime {
        private final Look look;
        private final String tenant;
        private final Tags tags;
        private final DoubleAccumulator highest = new DoubleAccumulator(Math::max, 0);

        UsedPermitTime(Look look, String tenant, Tags tags) {
            this.look = look;
            this.tenant = tenant;
            this.tags = tags;
        }

        /**
         * The highest sum so far: a hold that is just ending may be in neither part, and a counter must not decrease.
         */
        double seconds() {
            Seen seen = look.seen();
            highest.accumulate(seen.of(tenant).held() + seen.ended().getOrDefault(tags, 0.0));
            return highest.get();
        }
    }

    /** The sums over all tenants with one tag, in one pool. */
    private record TenantsNow(int inFlight, int waiting, double share, double weight, double held) {

        static final TenantsNow NONE = new TenantsNow(0, 0, 0, 0, 0);

        static TenantsNow of(TenantStatus tenant) {
            boolean isActive = tenant.inFlight() + tenant.waiting() > 0;
            return new TenantsNow(
                    tenant.inFlight(),
                    tenant.waiting(),
                    tenant.share(),
                    isActive ? tenant.weight() : 0,
                    seconds(tenant));
        }

        TenantsNow and(TenantsNow other) {
            return new TenantsNow(
                    inFlight + other.inFlight,
                    waiting + other.waiting,
                    share + other.share,
                    weight + other.weight,
                    held + other.held);
        }
    }

    /**
     * One snapshot of a pool.
     *
     * @param tenants by tag
     * @param ended permit-time of the holds that had ended; read before the status, so that none is both ended and held
     */
    private record Seen(PoolStatus status, Map<String, TenantsNow> tenants, Map<Tags, Double> ended) {

        static final Seen NOTHING =
                new Seen(new PoolStatus(0, 0, 0, 0, Duration.ZERO, List.of(), List.of()), Map.of(), Map.of());

        static Seen of(PoolStatus status, Function<TenantId, String> tag, Map<Tags, Double> ended) {
            Map<String, TenantsNow> byTag = new HashMap<>();
            status.tenants()
                    .forEach(tenant -> byTag.merge(tag.apply(tenant.tenant()), TenantsNow.of(tenant), TenantsNow::and));
            return new Seen(status, byTag, ended);
        }

        TenantsNow of(String tag) {
            return tenants.getOrDefault(tag, TenantsNow.NONE);
        }
    }

    /** The latest snapshot of one pool, renewed when it is older than one scrape. */
    private final class Look {
        private final PermitPool pool;
        private volatile Seen latest = Seen.NOTHING;
        private volatile long takenAt;

        Look(PermitPool pool) {
            this.pool = pool;
            takeAnew();
        }

        void takeAnew() {
            takenAt = now() - 2 * FRESH_NANOS;
        }

        Seen seen() {
            long now = now();
            if (now - reviewedAt > REVIEW_NANOS) {
                reviewSoon();
            }
            if (now - takenAt > FRESH_NANOS) {
                takenAt = now;
                int version = series.version();
                Map<Tags, Double> ended = meters.endedPermitSeconds();
                var unused = pool.snapshot()
                        .onErrorComplete(PoolUnavailableException.class)
                        .subscribe(status -> take(version, Seen.of(status, series::tagNow, ended)));
            }
            return latest;
        }

        /** Drops a snapshot that was taken while tenants changed their tags, because its parts do not fit together. */
        private void take(int version, Seen seen) {
            if (version % 2 == 0 && version == series.version()) {
                latest = seen;
            } else {
                takeAnew();
            }
        }

        PoolStatus status() {
            return seen().status();
        }

        double of(String tag, ToDoubleFunction<TenantsNow> value) {
            return value.applyAsDouble(seen().of(tag));
        }
    }
}
