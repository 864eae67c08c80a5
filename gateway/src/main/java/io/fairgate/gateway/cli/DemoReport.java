package io.fairgate.gateway.cli;

import io.fairgate.gateway.cli.DemoTraffic.Outcome;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The table at the end of the demo. */
record DemoReport(Phase alone, Phase plain, Phase fair) {

    /**
     * What was measured while certain tenants sent on one route.
     *
     * @param rows one for each tenant that sent, the quiet one first
     * @param highest the upstream's highest concurrency
     */
    record Phase(String name, Duration time, List<Row> rows, int highest) {}

    /** @param share the part of the upstream's time that the tenant used, from 0 to 1 */
    record Row(Outcome outcome, double share) {}

    void print(PrintWriter out) {
        out.printf("%n%-16s %-6s %12s %9s %9s %14s%n", "", "tenant", "requests/s", "p50", "p99", "upstream time");
        for (Phase phase : List.of(alone, plain, fair)) {
            String name = phase.name();
            for (Row row : phase.rows()) {
                print(name, phase.time(), row, out);
                name = "";
            }
        }
        double basis = quietMedian(alone);
        out.printf(
                Locale.ROOT,
                "%nThe noisy neighbour makes the quiet tenant's p50%n"
                        + "  %5.1f times as long on the plain route,%n"
                        + "  %5.1f times as long on the FairShare route.%n"
                        + "The upstream had at most %d requests at once.%n",
                quietMedian(plain) / basis,
                quietMedian(fair) / basis,
                Math.max(plain.highest(), fair.highest()));
        out.flush();
    }

    private static double quietMedian(Phase phase) {
        return phase.rows().get(0).outcome().millisAt(0.5);
    }

    private static void print(String name, Duration time, Row row, PrintWriter out) {
        Outcome outcome = row.outcome();
        out.printf(
                Locale.ROOT,
                "%-16s %-6s %12.0f %6.0f ms %6.0f ms %12.0f %%%s%n",
                name,
                outcome.tenant(),
                outcome.requests() * 1e3 / time.toMillis(),
                outcome.millisAt(0.5),
                outcome.millisAt(0.99),
                100 * row.share(),
                outcome.failed() == 0 ? "" : "  (" + outcome.failed() + " failed)");
    }
}
