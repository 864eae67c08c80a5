package io.fairgate.gateway.operate;

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

    /** The clients of a tenant are in the row below its name, behind two spaces. */
    private static final int SHORTEST_NAME = "  wait for answers".length();

    void print(PrintWriter out) {
        prediction.path("pools").forEach(pool -> print(pool, out));
        print(prediction.path("notReplayed"), "Not replayed: ", out);
        print(prediction.path("notes"), "Note: ", out);
    }

    private static void print(JsonNode sentences, String before, PrintWriter out) {
        sentences.forEach(sentence -> out.printf("%s%s.%n", before, sentence.asString()));
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
        int longest = SHORTEST_NAME;
        for (JsonNode tenant : pool.path("tenants")) {
            longest = Math.max(longest, tenant.path("tenant").asString().length());
        }
        Row row = new Row(longest, out);
        row.print("", "", "permits", "permit-time", "requests", "refused", "left", "waiting", "wait p50", "wait p99");
        for (JsonNode tenant : pool.path("tenants")) {
            String clients = "  " + tenant.path("clients").asString().replace('-', ' ');
            row.print(tenant.path("tenant").asString(), "recorded", tenant.path("recorded"));
            row.print(clients, "replayed", tenant.path("replayed"));
            row.print("", "candidate", tenant.path("candidate"));
            if (tenant.path("otherwise").isObject()) {
                row.print("", "or else", tenant.path("otherwise"));
            }
        }
        out.println();
        print(pool.path("notes"), "Note: ", out);
        int others = pool.path("otherTenants").asInt();
        if (others > 0) {
            out.printf("%d other tenants are not shown.%n", others);
        }
    }

    /** @param names the width of the first column */
    private record Row(int names, PrintWriter out) {

        void print(String name, String kind, JsonNode use) {
            long refused = 0;
            for (JsonNode count : use.path("refused")) {
                refused += count.asLong();
            }
            print(
                    name,
                    kind,
                    String.format(Locale.ROOT, "%.1f", use.path("permits").asDouble()),
                    String.format(Locale.ROOT, "%.1f %%", 100 * use.path("part").asDouble()),
                    use.path("requests").asLong(),
                    refused,
                    use.path("left").asLong(),
                    use.path("waiting").asLong(),
                    millis(use.path("waitP50Seconds")),
                    millis(use.path("waitP99Seconds")));
        }

        void print(String name, String kind, Object... columns) {
            out.printf("%-" + names + "s  %-9s", name, kind);
            out.printf(" %8s %11s %9s %8s %7s %8s %10s %10s%n", columns);
        }

        private static String millis(JsonNode seconds) {
            return String.format(Locale.ROOT, "%.0f ms", 1e3 * seconds.asDouble());
        }
    }
}
