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
final class ThrottleMetrics {

    private final Leases leases;
    private final Semaphores semaphores;
    private final Restores restores;

    ThrottleMetrics(Leases leases, Semaphores semaphores, Restores restores) {
        this.leases = leases;
        this.semaphores = semaphores;
        this.restores = restores;
    }

    private record Row(Semaphore semaphore, int inFlight, WaitingLeases pending) {}

    Mono<String> page() {
        return Flux.fromStream(() -> semaphores.all().stream().sorted(Comparator.comparing(Semaphore::name)))
                .concatMap(semaphore -> semaphore
                        .pool()
                        .inFlight()
                        .zipWith(leases.waiting(semaphore.name()), (inFlight, pending) -> new Row(semaphore, inFlight, pending)))
                .collectList()
                .map(this::page);
    }

    private String page(List<Row> rows) {
        StringBuilder page = new StringBuilder();
        heading(
                page,
                "throttle_restores_pending_total",
                "Restores of peers whose locks were not free, and so are pending.",
                "counter");
        page.append("throttle_restores_pending_total ")
                .append(restores.pending())
                .append('\n');
        if (!rows.isEmpty()) {
            gauges(page, rows, "throttle_acquired", "Sum of all acquired locks.", row -> row.inFlight);
            gauges(
                    page,
                    rows,
                    "throttle_longest_pending_sec",
                    "Time the longest pending peer is waiting until now, to acquire a lock to a semaphore.",
                    row -> TimeUnit.NANOSECONDS.toSeconds(row.pending.longestNanos()));
            gauges(
                    page,
                    rows,
                    "throttle_max",
                    "Maximum allowed lock count for this semaphore.",
                    row -> row.semaphore.max());
            gauges(page, rows, "throttle_pending", "Sum of all pending locks", row -> row.pending.permits());
        }
        return page.toString();
    }

    private static void gauges(
            StringBuilder page, List<Row> rows, String name, String help, Function<Row, Number> value) {
        heading(page, name, help, "gauge");
        for (Row row : rows) {
            page.append(name)
                    .append("{semaphore=\"")
                    .append(escaped(row.semaphore.name()))
                    .append("\"} ")
                    .append(value.apply(row))
                    .append('\n');
        }
    }

    private static void heading(StringBuilder page, String name, String help, String type) {
        page.append("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type));
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
