package io.fairgate.redis.connection;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import redis.embedded.RedisExecProvider;

/**
 * A Redis server on a loopback port, without persistence, that ends with the test. The program comes from a jar, so that nothing
 * has to be installed.
 */
public final class RedisProcess implements AutoCloseable {

    private final int port;
    private final Process process;

    public RedisProcess() throws IOException {
        this(freePort());
    }

    /** On the port of a server that has ended. */
    public RedisProcess(int port) throws IOException {
        this.port = port;
        List<String> command = new ArrayList<>();
        if (new File("/usr/bin/setpriv").canExecute()) {
            // So it also ends when the JVM is killed.
            command.addAll(List.of("/usr/bin/setpriv", "--pdeathsig", "KILL"));
        }
        command.addAll(List.of(
                RedisExecProvider.defaultProvider().get().getPath(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--save",
                ""));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        awaitReady(process);
    }

    /** Redis cannot choose a port itself. */
    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private static void awaitReady(Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder said = new StringBuilder();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            said.append(line).append('\n');
            if (line.contains("Ready to accept connections")) {
                Thread reader = new Thread(() -> drain(out), "redis-output");
                reader.setDaemon(true);
                reader.start();
                return;
            }
        }
        throw new IOException("Redis did not start:\n" + said);
    }

    private static void drain(BufferedReader out) {
        try {
            while (out.readLine() != null) {
                // A full pipe would stop Redis.
            }
        } catch (IOException e) {
            if (!"Stream closed".equals(e.getMessage())) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public int port() {
        return port;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
