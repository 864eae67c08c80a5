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
import tools.jackson.databind.JsonNode;

/** {@code leases}: the open leases of a running gateway; {@code --end ID} ends one of them. */
@Command(
        name = "leases",
        description = "Shows the open leases of a running gateway, the oldest first, or ends one.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class LeasesCommand extends ManagementCommand {

    @Option(names = "--tenant", paramLabel = "ID", description = "Only those of this tenant.")
    private @Nullable String tenant;

    @Option(names = "--pool", paramLabel = "NAME", description = "Only those of this pool.")
    private @Nullable String pool;

    @Option(names = "--holder", paramLabel = "TEXT", description = "Only those whose holder contains this.")
    private @Nullable String holder;

    @Option(
            names = "--end",
            paramLabel = "ID",
            description =
                    "Ends the lease with this id: its permits are free, and its holder learns it with its next call.")
    private @Nullable String end;

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        if (end != null && end.isBlank()) {
            throw new FailedCallException("--end: empty (expected: an id that the command leases shows)");
        }
        return end == null ? list(out) : end(end, out);
    }

    private int end(String id, PrintWriter out) throws FailedCallException, InterruptedException {
        Answer answer = gateway.call("DELETE", "leases/" + ManagementPort.encoded(id), null);
        if (answer.status() == 404) {
            read(Map.of()); // or the endpoint itself is missing
            return fail("%s: there is no such lease (expected: an id that the command leases shows)".formatted(id));
        } else if (answer.status() != 204) {
            throw gateway.unexpected("leases", answer);
        }
        out.printf("%s: ended%n", id);
        return 0;
    }

    private JsonNode read(Map<String, @Nullable String> filter) throws FailedCallException, InterruptedException {
        return gateway.get("leases", filter, json -> json.path("shown").isArray());
    }

    private int list(PrintWriter out) throws FailedCallException, InterruptedException {
        Map<String, @Nullable String> filter = new LinkedHashMap<>();
        filter.put("tenant", tenant);
        filter.put("pool", pool);
        filter.put("holder", holder);
        JsonNode leases = read(filter);
        if (isJson) {
            out.println(leases);
            return 0;
        }
        out.printf(
                "Open leases: %d. Holding permits: %d. Waiting: %d.%n",
                leases.path("open").asInt(),
                leases.path("holding").asInt(),
                leases.path("waiting").asInt());
        Table table = new Table(5, "lease", "state", "tenant", "holder", "permits", "age", "expires in");
        for (JsonNode lease : leases.path("shown")) {
            table.row(
                    lease.path("id").asString(),
                    lease.path("state").asString(),
                    Table.text(lease.path("tenant").asString()),
                    Table.text(lease.path("holder").asString()),
                    permits(lease),
                    Table.time(lease.path("ageSeconds").asDouble()),
                    Table.time(lease.path("expiresInSeconds").asDouble()));
        }
        if (!table.isEmpty()) {
            table.print(out);
        }
        int more = leases.path("matching").asInt() - leases.path("shown").size();
        if (more > 0) {
            out.printf("%d more are not shown.%n", more);
        }
        if (!leases.path("complete").asBoolean(true)) {
            out.println("There are so many leases that not all were looked at: filter by tenant.");
        }
        return 0;
    }

    private static String permits(JsonNode lease) {
        List<String> each = new ArrayList<>();
        lease.path("permits")
                .properties()
                .forEach(pool -> each.add(
                        Table.text(pool.getKey()) + " " + pool.getValue().asInt()));
        return String.join(", ", each);
    }
}
