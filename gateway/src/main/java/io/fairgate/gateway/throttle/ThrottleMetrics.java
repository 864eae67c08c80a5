package io.fairgate.gateway.throttle;

import io.fairgate.lease.Leases;
import io.fairgate.lease.WaitingLeases;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The metrics page of throttle, in Prometheus' text format, with one additional metric. */
record ThrottleMetrics(Leases leases, Semaphores semaphores, Restores restores) {

    private record Row(Semaphore semaphore, int inFlight, WaitingLeases pending) {}

    Mono<String> page() {
        return Flux.fromStream(() -> semaphores.all().stream().sorted(Comparator.comparing(Semaphore::name)))
                .concatMap(semaphore -> semaphore
                        .pool()
                        .inFlight()
                        .zipWith(
                                leases.waiting(semaphore.name()),
                                (inFlight, pending) -> new Row(semaphore, inFlight, pending)))
                .collectList()
                .map(this::page);
    }

    private String page(List<Row> rows) {
        return """
                # HELP throttle_restores_pending_total Restores of peers whose locks were not free, and so are pending.
                # TYPE throttle_restores_pending_total counter
                throttle_restores_pending_total %d
                """.formatted(restores.pending())
                + gauges(rows, "throttle_acquired", "Sum of all acquired locks.", row -> row.inFlight)
                + gauges(
                        rows,
                        "throttle_longest_pending_sec",
                        "Time the longest pending peer is waiting until now, to acquire a lock to a semaphore.",
                        row -> TimeUnit.NANOSECONDS.toSeconds(row.pending.longestNanos()))
                + gauges(
                        rows,
                        "throttle_max",
                        "Maximum allowed lock count for this semaphore.",
                        row -> row.semaphore.max())
                + gauges(rows, "throttle_pending", "Sum of all pending locks", row -> row.pending.permits());
    }

    private static String gauges(List<Row> rows, String name, String help, Function<Row, Number> value) {
        if (rows.isEmpty()) {
            return "";
        }
        StringBuilder gauges = new StringBuilder("# HELP %s %s\n# TYPE %s gauge\n".formatted(name, help, name));
        for (Row row : rows) {
            gauges.append("%s{semaphore=\"%s\"} %s\n".formatted(name, escaped(row.semaphore.name()), value.apply(row)));
        }
        return gauges.toString();
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
