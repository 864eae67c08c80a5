package io.fairgate.spring;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.permit.PermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.function.ToDoubleFunction;
import reactor.core.scheduler.Scheduler;

/**
 * What is measured when somebody looks: the pools, the tenants in them, the quotas. Costs nothing in between. One look
 * at a pool serves all gauges of a scrape.
 *
 * <p>The rows are those of the policy: a change of it adds and removes some, and leaves the others as they are.
 *
 * <p>Over 250 lines, because it is the list of all gauges, with the rows that they are made for.
 */
final class FairgateGauges implements MeterBinder, LivePolicy.Follower {

    /** The tenant tag of what the tenants of a group share; the quota tag begins with the group. */
    private static final String GROUP = "_group";

    private static final long FRESH_NANOS = Duration.ofMillis(100).toNanos();

    private final LivePolicy policy;
    private final PermitPools pools;
    private final PermitsWithoutClient withoutClient;
    private final Quotas quotas;
    private final ByteBudget waitingBodies;
    private final Scheduler time;
    private final FairgateMeters meters;

    private final List<Rows> bound = new ArrayList<>();

    FairgateGauges(
            LivePolicy policy,
            PermitPools pools,
            PermitsWithoutClient withoutClient,
            Quotas quotas,
            ByteBudget waitingBodies,
            FairgateMeters meters,
            Scheduler time) {
        this.policy = policy;
        this.pools = pools;
        this.withoutClient = withoutClient;
        this.quotas = quotas;
        this.waitingBodies = waitingBodies;
        this.meters = meters;
        this.time = time;
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        Rows rows = new Rows(registry);
        rows.follow(policy.current());
        bound.add(rows);
        gauge(registry, Meter.WAITING_BODY_BYTES, Tags.empty(), waitingBodies, ByteBudget::used);
        gauge(registry, Meter.WAITING_BODY_LIMIT, Tags.empty(), waitingBodies, ByteBudget::limit);
    }

    @Override
    public synchronized void follow(Policy next) {
        bound.forEach(rows -> rows.follow(next));
    }

    private double remaining(QuotaSet quota) {
        double[] answer = {Double.NaN};
        var unused = quotas.balances(quota)
                .subscribe(balances -> answer[0] = balances.get(0).remaining());
        return answer[0];
    }

    private static <T> Gauge gauge(
            MeterRegistry registry, Meter meter, Tags tags, T source, ToDoubleFunction<T> value) {
        return Gauge.builder(meter.id(), source, value)
                .description(meter.description())
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    /** What one registry shows of the policy: each row by its tags. */
    private final class Rows {

        private final MeterRegistry registry;
        private final Map<String, Look> looks = new HashMap<>();
        private final Map<Tags, List<io.micrometer.core.instrument.Meter>> rows = new HashMap<>();
        private final Map<Tags, QuotaRow> quotaRows = new HashMap<>();

        Rows(MeterRegistry registry) {
            this.registry = registry;
        }

        void follow(Policy next) {
            Set<Tags> wanted = new HashSet<>();
            looks.keySet().retainAll(next.pools().keySet());
            next.pools().keySet().forEach(name -> {
                PermitPool pool = pools.get(name);
                if (pool != null) {
                    // A pool that was gone in between is another one, and its rows are bound anew.
                    Look look = looks.computeIfAbsent(name, n -> new Look(pool));
                    addPool(wanted, look);
                    next.tenants().forEach(tenant -> addTenant(wanted, look, tenant.id(), next));
                }
            });
            new QuotaSets(next).all().forEach(quota -> addQuota(wanted, quota, next));
            quotaRows.keySet().retainAll(wanted);
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

        private void addTenant(Set<Tags> wanted, Look look, TenantId id, Policy next) {
            Tags tags = Tags.of("pool", look.pool.name(), "tenant", FairgateMeters.tag(next, id));
            wanted.add(tags);
            rows.computeIfAbsent(tags, t -> {
                // The counter holds on to what it is given only weakly: that must be the look, which stays.
                UsedPermitTime used = new UsedPermitTime(look, id, t);
                return List.of(
                        gauge(registry, Meter.TENANT_IN_FLIGHT, t, look, l -> l.of(id, TenantStatus::inFlight)),
                        gauge(registry, Meter.TENANT_WAITING, t, look, l -> l.of(id, TenantStatus::waiting)),
                        gauge(registry, Meter.TENANT_SHARE, t, look, l -> l.of(id, TenantStatus::share)),
                        gauge(registry, Meter.TENANT_WEIGHT, t, look, l -> l.of(id, TenantStatus::weight)),
                        FunctionCounter.builder(Meter.PERMIT_SECONDS.id(), look, l -> used.seconds())
                                .description(Meter.PERMIT_SECONDS.description())
                                .tags(t)
                                .register(registry));
            });
        }

        private void addQuota(Set<Tags> wanted, OwnedQuota quota, Policy next) {
            boolean isShared = quota.owner().kind() == QuotaOwner.Kind.GROUP;
            String tenant = isShared
                    ? GROUP
                    : FairgateMeters.tag(next, TenantId.of(quota.owner().name()));
            Tags tags = Tags.of("tenant", tenant, "quota", quota.label());
            wanted.add(tags);
            quotaRows.computeIfAbsent(tags, t -> new QuotaRow()).alone = QuotaSet.of(List.of(quota));
            rows.computeIfAbsent(tags, t -> {
                QuotaRow row = Objects.requireNonNull(quotaRows.get(t));
                return List.of(
                        gauge(registry, Meter.QUOTA_LIMIT, t, row, QuotaRow::limit),
                        gauge(registry, Meter.QUOTA_REMAINING, t, row, q -> remaining(q.alone)));
            });
        }
    }

    /** One quota, as the policy says it now. */
    private static final class QuotaRow {
        private volatile QuotaSet alone = QuotaSet.NONE;

        double limit() {
            return alone.quotas().get(0).quota().limit();
        }
    }

    /** Permit-time of the holds that have ended, and of those that have not. */
    private static final class UsedPermitTime {
        private final Look look;
        private final TenantId tenant;
        private final Tags tags;
        private final DoubleAccumulator highest = new DoubleAccumulator(Math::max, 0);

        UsedPermitTime(Look look, TenantId tenant, Tags tags) {
            this.look = look;
            this.tenant = tenant;
            this.tags = tags;
        }

        /** A hold that is just ending may be in neither part, and a counter must not go back. */
        double seconds() {
            Seen seen = look.seen();
            TenantStatus status = seen.tenants().get(tenant);
            double held = status == null ? 0 : status.held().toNanos() / 1e9;
            highest.accumulate(held + seen.ended().getOrDefault(tags, 0.0));
            return highest.get();
        }
    }

    /**
     * What was seen at one moment.
     *
     * @param ended permit-time of the holds that had ended; read before the status, so that none is both ended and held
     */
    private record Seen(PoolStatus status, Map<TenantId, TenantStatus> tenants, Map<Tags, Double> ended) {

        static final Seen NOTHING = of(new PoolStatus(0, 0, 0, 0, Duration.ZERO, List.of(), List.of()), Map.of());

        static Seen of(PoolStatus status, Map<Tags, Double> ended) {
            Map<TenantId, TenantStatus> byId = new HashMap<>();
            status.tenants().forEach(tenant -> byId.put(tenant.tenant(), tenant));
            return new Seen(status, byId, ended);
        }
    }

    /** The latest look at one pool, taken anew when it is older than a scrape. */
    private final class Look {
        private final PermitPool pool;
        private volatile Seen latest = Seen.NOTHING;
        private volatile long takenAt = time.now(TimeUnit.NANOSECONDS) - 2 * FRESH_NANOS;

        Look(PermitPool pool) {
            this.pool = pool;
        }

        Seen seen() {
            long now = time.now(TimeUnit.NANOSECONDS);
            if (now - takenAt > FRESH_NANOS) {
                takenAt = now;
                Map<Tags, Double> ended = meters.endedPermitSeconds();
                var unused = pool.snapshot().subscribe(status -> latest = Seen.of(status, ended));
            }
            return latest;
        }

        PoolStatus status() {
            return seen().status();
        }

        double of(TenantId tenant, ToDoubleFunction<TenantStatus> value) {
            TenantStatus found = seen().tenants().get(tenant);
            return found == null ? 0 : value.applyAsDouble(found);
        }
    }
}
