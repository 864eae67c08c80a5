package io.fairgate.spring.metrics;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what happens behind one pool, to the requests of all tenants together. The series of a tenant may end, and these counts go on.
 * Thread-safe; nothing is allocated for a hold.
 */
final class UpstreamCounts {

    private final LongAdder holds = new LongAdder();
    private final LongAdder holdNanos = new LongAdder();
    private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();

    void held(long nanos) {
        holds.increment();
        holdNanos.add(nanos);
    }

    void failed(String reason) {
        failures.computeIfAbsent(reason, first -> new LongAdder()).increment();
    }

    UpstreamTotals totals() {
        Map<String, Long> sums = new HashMap<>();
        failures.forEach((reason, count) -> sums.put(reason, count.sum()));
        return new UpstreamTotals(holds.sum(), holdNanos.sum() / 1e9, sums);
    }
}
