package io.fairgate.gateway.page;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.metrics.UpstreamTotals;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Permits in flight, requests waiting, and what happened at the upstream of each pool, once a second, for the latest five minutes. */
final class PoolHistory implements DisposableBean {

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final int POINTS = 300;

    private final PermitPools pools;
    private final FairgateMeters meters;
    private final Map<String, Deque<Point>> byPool = new ConcurrentHashMap<>();
    private final Disposable noting;

    /**
     * A pool at one moment. Without its backend, its permits and requests are -1.
     *
     * @param nanos when that was, on the clock of {@link System#nanoTime}
     */
    record Point(long nanos, int inFlight, int waiting, UpstreamTotals upstream) {}

    PoolHistory(PermitPools pools, FairgateMeters meters, Scheduler time) {
        this.pools = pools;
        this.meters = meters;
        this.noting = Flux.interval(Duration.ZERO, EVERY, time)
                .onBackpressureDrop()
                .concatMap(tick -> note(), 1)
                .subscribe();
    }

    private Mono<Void> note() {
        byPool.keySet().retainAll(pools.all().stream().map(PermitPool::name).toList());
        return Flux.fromIterable(pools.all())
                .concatMap(pool -> note(pool, meters.upstreamTotals(pool.name())))
                .then();
    }

    private Mono<Point> note(PermitPool pool, UpstreamTotals upstream) {
        long now = System.nanoTime();
        return pool.totals()
                .map(totals -> new Point(now, totals.inFlight(), totals.waiting(), upstream))
                .onErrorReturn(PoolUnavailableException.class, new Point(now, -1, -1, upstream))
                .doOnNext(point -> add(pool.name(), point));
    }

    private void add(String pool, Point point) {
        Deque<Point> points = byPool.computeIfAbsent(pool, p -> new ArrayDeque<>());
        synchronized (points) {
            points.add(point);
            if (points.size() > POINTS) {
                points.remove();
            }
        }
    }

    /** The oldest one first. */
    List<Point> of(String pool) {
        Deque<Point> points = byPool.getOrDefault(pool, new ArrayDeque<>());
        synchronized (points) {
            return List.copyOf(points);
        }
    }

    @Override
    public void destroy() {
        noting.dispose();
    }
}
