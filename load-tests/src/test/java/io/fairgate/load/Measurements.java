package io.fairgate.load;

import io.gatling.javaapi.core.Session;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The {@link Latencies} of each kind of request. The rows are fixed before the run, so reading needs no lock. */
final class Measurements {

    /** The session attribute with the response time. */
    static final String MILLIS = "millis";

    private final Map<String, Latencies> rows = new LinkedHashMap<>();

    Measurements(String... names) {
        for (String name : names) {
            rows.put(name, new Latencies());
        }
    }

    /**
     * Counts an answer with the session's {@link #MILLIS}, or a failure. Ignores kinds of requests that are not measured.
     */
    Session measure(Session session, String name) {
        Latencies row = rows.get(name);
        if (row != null) {
            if (session.isFailed()) {
                row.failed();
            } else {
                row.answered(session.getInt(MILLIS));
            }
        }
        return session;
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
