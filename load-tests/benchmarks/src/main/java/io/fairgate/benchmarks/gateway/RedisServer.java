package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import redis.embedded.RedisExecProvider;

/**
 * A Redis server on a loopback port, without persistence. The program comes from a jar, so that nothing has to be
 * installed.
 */
final class RedisServer implements AutoCloseable {

    /** This machine cannot run the program. */
    static final class CannotStartException extends Exception {

        private static final long serialVersionUID = 1;

        CannotStartException(Exception cause) {
            super(cause.toString(), cause);
        }
    }

    private static final Pattern LISTENS = Pattern.compile("Ready to accept connections");

    private final int port;
    private final MeasuredProcess process;

    RedisServer() throws CannotStartException {
        try {
            port = freePort();
            String program = RedisExecProvider.defaultProvider().get().getPath();
            process = new MeasuredProcess(List.of(
                    program,
                    "--port",
                    Integer.toString(port),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--appendonly",
                    "no"));
            process.await(LISTENS);
        } catch (IOException | RuntimeException e) {
            throw new CannotStartException(e);
        }
    }

    /** Redis cannot choose a port itself. */
    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    Duration used() {
        return process.used();
    }

    @Override
    public void close() {
        process.close();
    }
}
