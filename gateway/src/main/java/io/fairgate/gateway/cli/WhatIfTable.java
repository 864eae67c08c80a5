package io.fairgate.gateway.cli;

import java.io.PrintWriter;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/**
 * A prediction as a table: for each tenant what it got, what it gets in a replay, and what it gets under the candidate.
 *
 * @param prediction as the endpoint answers it
 * @param candidate the name of the other policy
 */
record WhatIfTable(JsonNode prediction, String candidate) {

    private static final String ROW = "%-20s %-12s %11s %9s %9s %8s %10s %10s%n";

    void print(PrintWriter out) {
        prediction.path("pools").forEach(pool -> print(pool, out));
        prediction.path("notReplayed").forEach(reason -> out.printf("Not replayed: %s.%n", reason.asString()));
    }

    private void print(JsonNode pool, PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "Pool %s: %d requests in %.0f s; %d permits, and %d in %s.%n%n",
                pool.path("pool").asString(),
                pool.path("requests").asLong(),
                pool.path("seconds").asDouble(),
                pool.path("permits").asInt(),
                pool.path("candidatePermits").asInt(),
                candidate);
        out.printf(ROW, "", "", "permit-time", "requests", "refused", "left", "wait p50", "wait p99");
        for (JsonNode tenant : pool.path("tenants")) {
            String name = tenant.path("tenant").asString();
            print(name, "recorded", tenant.path("recorded"), out);
            String clients = tenant.path("followsAnswers").asBoolean() ? "  wait for answers" : "  come anyway";
            print(clients, "replayed", tenant.path("replayed"), out);
            print("", "candidate", tenant.path("candidate"), out);
        }
        int others = pool.path("otherTenants").asInt();
        out.printf(others == 0 ? "%n" : "%d other tenants that use less are not shown.%n%n", others);
    }

    private static void print(String name, String kind, JsonNode use, PrintWriter out) {
        long refused = 0;
        for (JsonNode count : use.path("refused")) {
            refused += count.asLong();
        }
        out.printf(
                ROW,
                name,
                kind,
                String.format(Locale.ROOT, "%.1f %%", 100 * use.path("part").asDouble()),
                use.path("requests").asLong(),
                refused,
                use.path("left").asLong(),
                millis(use.path("waitP50Seconds")),
                millis(use.path("waitP99Seconds")));
    }

    private static String millis(JsonNode seconds) {
        return String.format(Locale.ROOT, "%.0f ms", 1e3 * seconds.asDouble());
    }
}
