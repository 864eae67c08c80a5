package io.fairgate.gateway.page;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.status.PoolTotals;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.DisposableBean;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** Permits in flight and requests waiting in each pool, once a second, for the latest five minutes. */
final class PoolHistory implements DisposableBean {

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final int POINTS = 300;

    private final PermitPools pools;
    private final Map<String, Deque<Point>> byPool = new ConcurrentHashMap<>();
    private final Disposable timer;

    /** A pool at one second. */
    record Point(int inFlight, int waiting) {}

    PoolHistory(PermitPools pools, Scheduler time) {
        this.pools = pools;
        this.timer = time.schedulePeriodically(this::note, 0, EVERY.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void note() {
        List<String> known = pools.all().stream().map(PermitPool::name).toList();
        byPool.keySet().retainAll(known);
        for (PermitPool pool : pools.all()) {
            var unused = pool.totals()
                    .onErrorComplete(PoolUnavailableException.class)
                    .subscribe(totals -> add(pool.name(), totals));
        }
    }

    private void add(String pool, PoolTotals totals) {
        Deque<Point> points = byPool.computeIfAbsent(pool, p -> new ArrayDeque<>());
        synchronized (points) {
            points.add(new Point(totals.inFlight(), totals.waiting()));
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
        timer.dispose();
    }
}
