package io.fairgate.load;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One row of {@link Latencies} per kind of request; the rows are fixed before the run, so reading needs no lock. */
final class Measurements {

    private final Map<String, Latencies> rows = new LinkedHashMap<>();

    Measurements(String... names) {
        for (String name : names) {
            rows.put(name, new Latencies());
        }
    }

    /** The row of that name, or nothing when this kind of request is not measured. */
    @Nullable
    Latencies row(String name) {
        return rows.get(name);
    }

    double median(String name) {
        Latencies row = rows.get(name);
        return row == null ? Double.NaN : row.percentile(50);
    }

    String table(Duration phase) {
        StringBuilder table = new StringBuilder();
        table.append(
                line("%-32s %9s %7s %8s %7s %7s %7s", "", "answered", "failed", "per s", "p50 ms", "p95 ms", "p99 ms"));
        rows.forEach((name, row) -> table.append(line(
                "%-32s %9d %7d %8.1f %7.0f %7.0f %7.0f",
                name,
                row.answers(),
                row.failures(),
                row.answers() * 1000.0 / phase.toMillis(),
                row.percentile(50),
                row.percentile(95),
                row.percentile(99))));
        return table.toString();
    }

    private static String line(String format, Object... cells) {
        return String.format(Locale.ROOT, format, cells) + System.lineSeparator();
    }
}
