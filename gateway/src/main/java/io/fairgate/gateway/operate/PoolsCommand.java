package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code pools}: the pools of a running gateway, by tenant. */
@Command(
        name = "pools",
        description = "Shows the pools of a running gateway, by tenant.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class PoolsCommand extends ManagementCommand {

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        JsonNode pools = gateway.pools();
        if (isJson) {
            out.println(pools);
        } else {
            PoolTables.print(pools, out);
        }
        return 0;
    }
}
