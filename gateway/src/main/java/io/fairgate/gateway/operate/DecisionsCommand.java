package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.Answer;
import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code decisions [ID]}: the latest refusals of a running gateway, or one with its explanation. */
@Command(
        name = "decisions",
        description = "Shows the latest refusals and failures of a running gateway, or explains one by its id.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class DecisionsCommand extends ManagementCommand {

    @Parameters(arity = "0..1", paramLabel = "ID", description = "The id of a decision, as the client got it.")
    private @Nullable String id;

    @Option(names = "--tenant", paramLabel = "TEXT", description = "Only those whose tenant contains this.")
    private @Nullable String tenant;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Only those whose reason contains this.")
    private @Nullable String reason;

    @Option(names = "--route", paramLabel = "TEXT", description = "Only those whose route contains this.")
    private @Nullable String route;

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        if (id != null && id.isBlank()) {
            throw new FailedCallException("the id is empty (expected: that of a decision, as the client got it)");
        }
        return id == null ? list(out) : explain(id, out);
    }

    private int list(PrintWriter out) throws FailedCallException, InterruptedException {
        Map<String, @Nullable String> filter = new LinkedHashMap<>();
        filter.put("tenant", tenant);
        filter.put("reason", reason);
        filter.put("route", route);
        JsonNode decisions = gateway.get("decisions", filter, JsonNode::isArray);
        if (isJson) {
            out.println(decisions);
            return 0;
        }
        Table table = new Table(6, "decision", "at", "reason", "tenant", "route", "pool", "status", "waited");
        for (JsonNode decision : decisions) {
            table.row(
                    text(decision, "id"),
                    text(decision, "at").replaceFirst("\\.\\d+Z$", "Z"),
                    text(decision, "reason"),
                    tenant(decision),
                    text(decision, "route"),
                    text(decision, "pool"),
                    text(decision, "status"),
                    Table.time(decision.path("waitedSeconds").asDouble()));
        }
        if (table.isEmpty()) {
            out.println("No request was refused, or none matches.");
        } else {
            table.print(out);
        }
        return 0;
    }

    private int explain(String decisionId, PrintWriter out) throws FailedCallException, InterruptedException {
        Answer answer = gateway.call("GET", "decisions/" + ManagementPort.encoded(decisionId), null);
        if (answer.status() == 404) {
            gateway.get("decisions", Map.of(), JsonNode::isArray); // or the endpoint itself is missing
            return fail(
                    "%s: the gateway does not know this decision; it keeps the latest 4096, and each gateway only its own"
                            .formatted(decisionId));
        } else if (answer.status() != 200 || !answer.json().path("id").isString()) {
            throw gateway.unexpected("decisions", answer);
        }
        if (isJson) {
            out.println(answer.body());
        } else {
            explain(answer.json(), out);
        }
        return 0;
    }

    private static void explain(JsonNode decision, PrintWriter out) {
        out.printf("%s %s, %s%n", text(decision, "status"), text(decision, "reason"), text(decision, "at"));
        out.printf("%s, route %s, path %s%n", whose(decision), text(decision, "route"), text(decision, "path"));
        if (!decision.path("quotas").isEmpty()) {
            List<String> quotas = new ArrayList<>();
            decision.path("quotas").forEach(quota -> quotas.add(Table.text(quota.asString())));
            out.printf("Quotas that were used up: %s%n", String.join(", ", quotas));
        }
        if (decision.path("why").isString()) {
            out.printf("The token is not valid: %s%n", text(decision, "why"));
        }
        if (decision.path("cause").isString()) {
            out.printf("Cause: %s%n", text(decision, "cause"));
        }
        if (!decision.path("pool").isString()) {
            return;
        }
        String waited = Table.time(decision.path("waitedSeconds").asDouble());
        out.printf(
                "It %s in the pool %s.%n",
                waited.equals("0") ? "did not wait" : "waited " + waited, text(decision, "pool"));
        JsonNode pool = decision.path("meanwhile");
        if (!pool.isObject()) {
            out.println("The state of the pool at that time is not kept any more.");
            return;
        }
        out.printf(
                "At the end of the wait, %d of %d permits were in flight, and %d requests waited.%n",
                pool.path("inFlight").asInt(),
                pool.path("permits").asInt(),
                pool.path("waiting").asInt());
        JsonNode own = pool.path("tenant");
        if (own.isObject()) {
            out.printf(
                    "The tenant had %d in flight and %d waiting, with a share of %s permits.%n",
                    own.path("inFlight").asInt(),
                    own.path("waiting").asInt(),
                    Table.number(own.path("share").asDouble()));
        }
        Table holders = new Table(1, "  held meanwhile by", "permit-seconds", "part");
        for (JsonNode holder : pool.path("holders")) {
            holders.row(
                    "  " + text(holder, "tenant"),
                    Table.number(holder.path("permitSeconds").asDouble()),
                    Table.number(100 * holder.path("part").asDouble()) + " %");
        }
        if (!holders.isEmpty()) {
            holders.print(out);
        }
    }

    private static String whose(JsonNode decision) {
        if (decision.path("tenant").isString()) {
            return "Tenant " + text(decision, "tenant");
        }
        return decision.path("claimed").isString()
                ? "No tenant: the request named \"%s\"".formatted(text(decision, "claimed"))
                : "No tenant";
    }

    private static String tenant(JsonNode decision) {
        return decision.path("tenant").isString() ? text(decision, "tenant") : text(decision, "claimed");
    }

    private static String text(JsonNode node, String key) {
        JsonNode value = node.path(key);
        return value.isMissingNode() || value.isNull() ? "-" : Table.text(value.asString());
    }
}
