package io.fairgate.gateway.page;

import io.fairgate.gateway.page.PageState.Minute;
import io.fairgate.gateway.page.PageState.PoolState;
import io.fairgate.gateway.page.PageState.TenantState;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.replay.Recording;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.TenantUse;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
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
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Reads what the page shows, once a second while at least one page is open. The latest minute of each pool is summed up every five
 * seconds, because that looks at each request.
 */
final class PageStates {

    /** Rows of one pool. */
    static final int TENANTS = 100;

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int TICKS_OF_A_MINUTE = 5;

    private final PermitPools pools;
    private final Recordings recordings;
    private final PoolHistory history;
    private final String version;
    private final String actuator;
    private final Flux<PageState> states;
    private Map<String, Latest> latest = Map.of();

    /**
     * What the tenants of a pool got in the latest minute.
     *
     * @param seconds how long that was
     */
    private record Latest(double seconds, Map<TenantId, TenantUse> uses, TenantUse all) {}

    PageStates(
            PermitPools pools,
            Recordings recordings,
            PoolHistory history,
            String version,
            String actuator,
            Scheduler blocking) {
        this.pools = pools;
        this.recordings = recordings;
        this.history = history;
        this.version = version;
        this.actuator = actuator;
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
        if (tick % TICKS_OF_A_MINUTE == 0) {
            latest = latest();
        }
        return Flux.fromIterable(pools.all())
                .concatMap(pool -> pool.snapshot()
                        .map(status -> state(pool.name(), status))
                        .onErrorResume(PoolUnavailableException.class, lost -> Mono.just(lost(pool.name()))))
                .sort(Comparator.comparing(PoolState::pool))
                .collectList()
                .map(all -> new PageState(Instant.now(), version, actuator, all));
    }

    private Map<String, Latest> latest() {
        Map<String, Latest> byPool = new HashMap<>();
        for (PermitPool pool : pools.all()) {
            Recording recording = recordings.of(pool.name());
            if (recording != null) {
                Recorded recorded = recording.read(MINUTE);
                double seconds = Math.max(1e-3, (recorded.to() - recorded.from()) / 1e9);
                byPool.put(pool.name(), new Latest(seconds, recorded.uses(), recorded.all()));
            }
        }
        return byPool;
    }

    private static PoolState lost(String pool) {
        return new PoolState(pool, true, 0, 0, 0, null, null, List.of(), List.of(), List.of(), 0);
    }

    private PoolState state(String pool, PoolStatus status) {
        Latest minute = latest.get(pool);
        List<TenantState> tenants = tenants(status, minute);
        List<PoolHistory.Point> points = history.of(pool);
        return new PoolState(
                pool,
                false,
                status.permits(),
                status.inFlight(),
                status.waiting(),
                minute == null ? null : minute(minute.all()),
                minute == null ? null : rounded(minute.all().permitSeconds() / minute.seconds() / status.permits()),
                points.stream().map(PoolHistory.Point::inFlight).toList(),
                points.stream().map(PoolHistory.Point::waiting).toList(),
                tenants.subList(0, Math.min(TENANTS, tenants.size())),
                Math.max(0, tenants.size() - TENANTS));
    }

    /** First those that are behind, the one that is behind most first; then those that use most. */
    private static List<TenantState> tenants(PoolStatus status, @Nullable Latest minute) {
        Map<TenantId, TenantStatus> present = new HashMap<>();
        status.tenants().forEach(tenant -> present.put(tenant.tenant(), tenant));
        Set<TenantId> all = new LinkedHashSet<>(present.keySet());
        if (minute != null) {
            all.addAll(minute.uses().keySet());
        }
        return all.stream()
                .map(tenant -> tenant(tenant, present.get(tenant), minute))
                .sorted(Comparator.comparingDouble(PageStates::behind)
                        .thenComparingDouble(one -> one.usedPermits() == null ? one.inFlight() : one.usedPermits())
                        .reversed()
                        .thenComparing(TenantState::tenant))
                .toList();
    }

    /** Less than a permit-second is no order: it changes with each grant. */
    private static double behind(TenantState tenant) {
        return tenant.lagPermitSeconds() < 1 ? 0 : tenant.lagPermitSeconds();
    }

    private static TenantState tenant(TenantId tenant, @Nullable TenantStatus status, @Nullable Latest minute) {
        TenantUse use = minute == null ? null : minute.uses().get(tenant);
        Double used = minute == null
                ? null
                : Double.valueOf(use == null ? 0 : rounded(use.permitSeconds() / minute.seconds()));
        Minute shown = use == null ? null : minute(use);
        return status == null
                ? new TenantState(tenant.value(), null, 0, used, 0, 0, 0, 0, shown)
                : new TenantState(
                        tenant.value(),
                        status.parent(),
                        rounded(status.share()),
                        used,
                        status.inFlight(),
                        status.waiting(),
                        seconds(status.oldestWait()),
                        seconds(status.lag()),
                        shown);
    }

    private static Minute minute(TenantUse use) {
        Map<String, Long> refused = new TreeMap<>();
        use.refused().forEach((reason, count) -> refused.put(reason.label(), count));
        return new Minute(
                use.requests(), use.granted(), use.left(), refused, seconds(use.waitP50()), seconds(use.waitP99()));
    }

    private static double seconds(Duration duration) {
        return rounded(duration.toNanos() / 1e9);
    }

    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }
}
