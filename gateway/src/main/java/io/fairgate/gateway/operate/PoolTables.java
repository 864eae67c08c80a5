package io.fairgate.gateway.operate;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The pools of a gateway, each with its tenants: the worst off first. */
final class PoolTables {

    private static final int MOST_TENANTS = 30;

    private PoolTables() {}

    /** @param pools as the endpoint answers them */
    static void print(JsonNode pools, PrintWriter out) {
        if (pools.isEmpty()) {
            out.println("The policy has no pool.");
        }
        boolean isFirst = true;
        for (var each : pools.properties()) {
            if (!isFirst) {
                out.println();
            }
            isFirst = false;
            print(each.getKey(), each.getValue(), out);
        }
    }

    private static void print(String name, JsonNode pool, PrintWriter out) {
        if (pool.path("backendLost").asBoolean()) {
            out.printf("%s: its backend is lost%n", Table.text(name));
            return;
        }
        out.printf(
                "%s: %d of %d permits in flight, %d waiting%n",
                Table.text(name),
                pool.path("inFlight").asInt(),
                pool.path("permitsHere").asInt(pool.path("permits").asInt()),
                pool.path("waiting").asInt());
        List<JsonNode> tenants = new ArrayList<>();
        pool.path("tenants").forEach(tenants::add);
        tenants.sort(Comparator.comparingLong(PoolTables::behindSeconds)
                .thenComparingLong(tenant -> tenant.path("oldestWaitSeconds").asLong())
                .thenComparingInt(tenant -> tenant.path("inFlight").asInt())
                .reversed()
                .thenComparing(tenant -> tenant.path("tenant").asString()));
        Table table = new Table(1, "  tenant", "share", "in flight", "waiting", "oldest wait", "behind");
        for (JsonNode tenant : tenants.subList(0, Math.min(MOST_TENANTS, tenants.size()))) {
            table.row(
                    "  " + Table.text(tenant.path("tenant").asString()),
                    Table.number(tenant.path("share").asDouble()),
                    tenant.path("inFlight").asString(),
                    tenant.path("waiting").asString(),
                    Table.time(tenant.path("oldestWaitSeconds").asDouble()),
                    behind(tenant));
        }
        if (!table.isEmpty()) {
            table.print(out);
        }
        if (tenants.size() > MOST_TENANTS) {
            out.printf("  %d more tenants are not shown.%n", tenants.size() - MOST_TENANTS);
        }
    }

    /** How long its share takes to give what it is behind by. */
    private static long behindSeconds(JsonNode tenant) {
        double lag = tenant.path("lagPermitSeconds").asDouble();
        return lag <= 0 ? 0 : (long) (lag / Math.max(tenant.path("share").asDouble(), 0.01));
    }

    private static String behind(JsonNode tenant) {
        double lag = tenant.path("lagPermitSeconds").asDouble();
        if (Math.abs(lag) < 0.05) {
            return "-";
        }
        return lag > 0 ? Table.number(lag) + " permit-s" : "ahead " + Table.number(-lag) + " permit-s";
    }
}
