package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ready}: waits until a gateway is ready, for scripts that start or restart it. */
@Command(
        name = "ready",
        description = "Waits until a gateway is ready. The exit code is 1 when it is not, in time.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class ReadyCommand extends ManagementCommand {

    private static final long PAUSE_MILLIS = 200;

    @Option(
            names = "--within",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long to wait. Default: ${DEFAULT-VALUE}.")
    private int within;

    @Option(
            names = "--for",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description =
                    "How long it must have been ready, so that a load balancer has seen it. Default: ${DEFAULT-VALUE}.")
    private int stays;

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        long began = System.nanoTime();
        long readySince = 0;
        boolean isReady = false;
        while (true) {
            boolean wasReady = isReady;
            String failure = failure();
            isReady = failure.isEmpty();
            long now = System.nanoTime();
            readySince = isReady && wasReady ? readySince : now;
            if (isReady && now - readySince >= TimeUnit.SECONDS.toNanos(stays)) {
                return 0;
            } else if (now - began > TimeUnit.SECONDS.toNanos(within)) {
                return fail("not ready within %d s: %s".formatted(within, isReady ? "not for long enough" : failure));
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /** Empty when it is ready. */
    private String failure() throws InterruptedException {
        try {
            ManagementPort.Answer answer = gateway.call("GET", "health/readiness", null);
            return answer.status() == 200 ? "" : "status %d: %s".formatted(answer.status(), answer.body());
        } catch (FailedCallException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
