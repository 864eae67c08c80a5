package io.fairgate.gateway.page;

import io.fairgate.gateway.page.PageState.Holder;
import io.fairgate.gateway.page.PageState.PoolState;
import io.fairgate.gateway.page.PageState.TenantState;
import io.fairgate.gateway.page.PageState.UpstreamUse;
import io.fairgate.gateway.page.PageState.Use;
import io.fairgate.gateway.page.PoolHistory.Point;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.replay.Recording;
import io.fairgate.replay.Recording.Latest;
import io.fairgate.replay.TenantUse;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.spring.metrics.UpstreamTotals;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.SliceStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Reads what the page shows, once a second while at least one page is open. What requests got just now is summed up every five seconds,
 * because that looks at each request.
 */
final class PageStates {

    /** Rows of one pool. */
    static final int TENANTS = 100;

    private static final int HOLDERS = 12;
    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int TICKS_OF_A_SUM = 5;

    private final PermitPools pools;
    private final Recordings recordings;
    private final PoolHistory history;
    private final BooleanSupplier isStopping;
    private final Flux<PageState> states;
    private final Map<String, FairnessIndex> fairness = new HashMap<>();
    private Map<String, Latest> latest = Map.of();

    PageStates(
            PermitPools pools,
            Recordings recordings,
            PoolHistory history,
            BooleanSupplier isStopping,
            Scheduler blocking) {
        this.pools = pools;
        this.recordings = recordings;
        this.history = history;
        this.isStopping = isStopping;
        this.states = Flux.interval(Duration.ZERO, EVERY, blocking)
                .onBackpressureDrop()
                .concatMap(tick -> state(tick), 1)
                .replay(1)
                .refCount();
    }

    /** The state of now, and then one each second. All subscribers share them. */
    Flux<PageState> states() {
        return states.onBackpressureLatest();
    }

    private Mono<PageState> state(long tick) {
        if (tick % TICKS_OF_A_SUM == 0) {
            latest = latest();
            fairness.keySet()
                    .retainAll(pools.all().stream().map(PermitPool::name).toList());
        }
        return Flux.fromIterable(pools.all())
                .concatMap(pool -> pool.snapshot()
                        .map(status -> state(pool, status))
                        .onErrorResume(PoolUnavailableException.class, lost -> Mono.just(lost(pool.name()))))
                .sort(Comparator.comparing(PoolState::pool))
                .collectList()
                .map(all -> new PageState(Instant.now(), isStopping.getAsBoolean(), all));
    }

    private Map<String, Latest> latest() {
        Map<String, Latest> byPool = new HashMap<>();
        for (PermitPool pool : pools.all()) {
            Recording recording = recordings.of(pool.name());
            if (recording != null) {
                byPool.put(pool.name(), recording.latest(MINUTE));
            }
        }
        return byPool;
    }

    private static PoolState lost(String pool) {
        return new PoolState(pool, true, 0, 0, 0, null, null, null, List.of(), List.of(), List.of(), List.of(), 0);
    }

    private PoolState state(PermitPool of, PoolStatus status) {
        String pool = of.name();
        SliceStatus slice = of.slice();
        if (slice != null && !slice.isInForce()) {
            return lost(pool);
        }
        Latest just = latest.get(pool);
        List<TenantState> tenants = tenants(status, just);
        List<Point> points = history.of(pool);
        FairnessIndex index = fairness.computeIfAbsent(pool, name -> new FairnessIndex());
        index.add(System.nanoTime(), status);
        return new PoolState(
                pool,
                false,
                slice == null ? status.permits() : slice.permits(),
                status.inFlight(),
                status.waiting(),
                just == null ? null : use(just.all(), just),
                upstream(points),
                index.value(),
                points.stream().map(Point::inFlight).toList(),
                points.stream().map(Point::waiting).toList(),
                holders(status),
                tenants.subList(0, Math.min(TENANTS, tenants.size())),
                Math.max(0, tenants.size() - TENANTS));
    }

    /** From the first to the last point of the latest minute. */
    private static @Nullable UpstreamUse upstream(List<Point> points) {
        if (points.size() < 2) {
            return null;
        }
        Point last = points.get(points.size() - 1);
        Point first = points.stream()
                .filter(point ->
                        last.nanos() - point.nanos() <= MINUTE.plus(EVERY).toNanos())
                .findFirst()
                .orElse(last);
        UpstreamTotals now = last.upstream();
        UpstreamTotals before = first.upstream();
        long holds = now.holds() - before.holds();
        return new UpstreamUse(
                rounded((last.nanos() - first.nanos()) / 1e9),
                holds <= 0 ? null : rounded((now.holdSeconds() - before.holdSeconds()) / holds),
                now.failuresSince(before));
    }

    private static List<Holder> holders(PoolStatus status) {
        return status.tenants().stream()
                .filter(tenant -> tenant.inFlight() > 0)
                .sorted(Comparator.comparingInt(TenantStatus::inFlight)
                        .reversed()
                        .thenComparing(tenant -> tenant.tenant().value()))
                .limit(HOLDERS)
                .map(tenant -> new Holder(tenant.tenant().value(), tenant.inFlight()))
                .toList();
    }

    /**
     * The worst off first: those that are behind by most of their own time, those that wait longest, those that are refused, and then those
     * that use most. In whole seconds, because the order would change with each grant otherwise.
     */
    private static List<TenantState> tenants(PoolStatus status, @Nullable Latest just) {
        Map<TenantId, TenantStatus> present = new HashMap<>();
        status.tenants().forEach(tenant -> present.put(tenant.tenant(), tenant));
        Set<TenantId> all = new LinkedHashSet<>(present.keySet());
        if (just != null) {
            all.addAll(just.tenants().keySet());
        }
        return all.stream()
                .map(tenant -> tenant(tenant, present.get(tenant), just))
                .sorted(Comparator.comparingLong((TenantState one) -> (long) one.behindSeconds())
                        .thenComparingLong(one -> (long) one.oldestWaitSeconds())
                        .thenComparingLong(TenantState::refused)
                        .thenComparingDouble(TenantState::usedPermits)
                        .reversed()
                        .thenComparing(TenantState::tenant))
                .toList();
    }

    private static TenantState tenant(TenantId tenant, @Nullable TenantStatus status, @Nullable Latest just) {
        TenantUse use = just == null ? null : just.tenants().get(tenant);
        Use shown = use == null || just == null ? null : use(use, just);
        return status == null
                ? new TenantState(tenant.value(), null, 0, 0, 0, 0, 0, shown)
                : new TenantState(
                        tenant.value(),
                        status.parent(),
                        rounded(status.share()),
                        status.inFlight(),
                        status.waiting(),
                        seconds(status.oldestWait()),
                        seconds(status.lag()),
                        shown);
    }

    private static Use use(TenantUse use, Latest just) {
        Map<String, Long> refused = new TreeMap<>();
        use.refused().forEach((reason, count) -> refused.put(reason.label(), count));
        return new Use(
                rounded(just.seconds()),
                use.requests(),
                use.left(),
                refused,
                rounded(use.permitSeconds() / Math.max(1e-3, just.seconds())),
                seconds(use.waitP50()),
                seconds(use.waitP99()));
    }

    private static double seconds(Duration duration) {
        return rounded(duration.toNanos() / 1e9);
    }

    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }
}
