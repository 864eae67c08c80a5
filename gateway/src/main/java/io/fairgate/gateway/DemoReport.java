package io.fairgate.gateway;

import io.fairgate.gateway.DemoTraffic.Outcome;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** The table at the end of the demo: what a reader is to see at a glance. */
record DemoReport(Phase alone, Phase plain, Phase fair) {

    /**
     * What was measured while certain tenants sent on one route.
     *
     * @param rows one for each tenant that sent
     * @param highest the upstream's highest concurrency
     */
    record Phase(String name, List<Row> rows, int highest) {
        Row of(String tenant) {
            return rows.stream()
                    .filter(row -> row.outcome().tenant().equals(tenant))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** @param share which part of the upstream's time the tenant had */
    record Row(Outcome outcome, double share) {}

    void print(PrintWriter out) {
        out.printf("%n%-24s %-7s %9s %9s %9s %12s%n", "", "tenant", "requests", "p50", "p99", "permit-time");
        for (Phase phase : List.of(alone, plain, fair)) {
            String name = phase.name();
            for (Row row : phase.rows()) {
                out.printf(
                        Locale.ROOT,
                        "%-24s %-7s %9d %6.0f ms %6.0f ms %10.0f %%%s%n",
                        name,
                        row.outcome().tenant(),
                        row.outcome().requests(),
                        row.outcome().millisAt(0.5),
                        row.outcome().millisAt(0.99),
                        100 * row.share(),
                        row.outcome().failed() == 0 ? "" : "  (" + row.outcome().failed() + " failed)");
                name = "";
            }
        }
        double basis = alone.of("quiet").outcome().millisAt(0.5);
        out.printf(
                Locale.ROOT,
                "%nThe quiet tenant's p50 beside the noisy one: %.1f times its p50 alone on the plain route,%n"
                        + "%.1f times on the FairShare route. The upstream had at most %d and %d requests at once.%n",
                plain.of("quiet").outcome().millisAt(0.5) / basis,
                fair.of("quiet").outcome().millisAt(0.5) / basis,
                plain.highest(),
                fair.highest());
        out.flush();
    }
}
