package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.Console;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code top}: what {@code pools} shows, again and again, until it is interrupted. */
@Command(
        name = "top",
        description = "Shows the pools of a running gateway again and again, until it is interrupted.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class TopCommand extends ManagementCommand {

    /** Clears the screen of a terminal (ECMA-48: erase in page, cursor position). */
    private static final String CLEAR = "\033[2J\033[H";

    @Option(
            names = "--every",
            paramLabel = "SECONDS",
            defaultValue = "2",
            description = "The time between two looks. Default: ${DEFAULT-VALUE}.")
    private double every;

    @Option(names = "--times", paramLabel = "N", description = "Ends after N looks.")
    private long times = Long.MAX_VALUE;

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        if (!(every >= 0.1 && every <= 3600)) {
            throw new FailedCallException("--every: %s (expected: 0.1 to 3600)".formatted(every));
        } else if (times < 1) {
            throw new FailedCallException("--times: %d (expected: 1 or more)".formatted(times));
        }
        boolean isTerminal = isTerminal();
        for (long i = 0; i < times; i++) {
            if (i > 0) {
                TimeUnit.MICROSECONDS.sleep(Math.round(every * 1e6));
            }
            look(out, isTerminal ? CLEAR : i == 0 ? "" : System.lineSeparator(), i == 0);
            out.flush();
        }
        return 0;
    }

    /** Goes on while the gateway is restarted, for instance; but a first look that fails is a mistake of the command line. */
    private void look(PrintWriter out, String before, boolean isFirst)
            throws FailedCallException, InterruptedException {
        LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
        try {
            JsonNode pools = gateway.pools();
            if (isJson) {
                out.println(pools);
            } else {
                out.println(before + now);
                PoolTables.print(pools, out);
            }
        } catch (FailedCallException e) {
            if (isFirst) {
                throw e;
            }
            fail("%s %s".formatted(now, e.getMessage()));
        }
    }

    /** Whether the output is a terminal. Before JDK 22, a process without a terminal has no console. Since then, it may have one. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }
}
