package io.fairgate.redis.connection;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import redis.embedded.RedisExecProvider;

/**
 * A Redis server on a loopback port, without persistence, that ends with the test. The program comes from a jar, so that nothing
 * has to be installed.
 */
public final class RedisProcess implements AutoCloseable {

    private final int port;
    private final Path folder;
    private final Process process;

    public RedisProcess() throws IOException {
        this(freePort());
    }

    /** On the port of a server that has ended. */
    public RedisProcess(int port) throws IOException {
        this(port, List.of("--save", ""));
    }

    private RedisProcess(int port, List<String> options) throws IOException {
        this.port = port;
        this.folder = Files.createTempDirectory("redis");
        List<String> command = new ArrayList<>();
        if (new File("/usr/bin/setpriv").canExecute()) {
            // So it also ends when the JVM is killed.
            command.addAll(List.of("/usr/bin/setpriv", "--pdeathsig", "KILL"));
        }
        command.add(RedisExecProvider.defaultProvider().get().getPath());
        command.addAll(options);
        if (!options.contains("--port")) {
            command.addAll(List.of("--port", Integer.toString(port)));
        }
        command.addAll(List.of("--bind", "127.0.0.1"));
        // A replica writes what it gets, and a server reads that at its start.
        command.addAll(List.of("--dir", folder.toString()));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        awaitReady(process, port);
    }

    /** The only node of a Redis Cluster. */
    public static RedisProcess cluster() throws IOException {
        List<String> options =
                List.of("--save", "", "--cluster-enabled", "yes", "--cluster-port", Integer.toString(freePort()));
        RedisProcess node = new RedisProcess(freePort(), options);
        node.answer("CLUSTER ADDSLOTSRANGE 0 16383");
        return node;
    }

    /** A server with TLS alone; both files are PEM. */
    public static RedisProcess withTls(Path certificate, Path key) throws IOException {
        int port = freePort();
        List<String> options = new ArrayList<>(List.of("--save", ""));
        options.addAll(List.of("--port", "0", "--tls-port", Integer.toString(port), "--tls-auth-clients", "no"));
        options.addAll(List.of("--tls-cert-file", certificate.toString(), "--tls-key-file", key.toString()));
        options.addAll(List.of("--tls-ca-cert-file", certificate.toString()));
        return new RedisProcess(port, options);
    }

    /** A server that sends what it has to a new replica at once. */
    public static RedisProcess withReplica() throws IOException {
        return new RedisProcess(freePort(), List.of("--save", "", "--repl-diskless-sync-delay", "0"));
    }

    /** A replica of this server. */
    public RedisProcess replica() throws IOException {
        return new RedisProcess(freePort(), List.of("--save", "", "--replicaof", "127.0.0.1 " + port));
    }

    /** A sentinel that knows this server as {@code main}, and soon its replicas, and decides alone. */
    public RedisProcess sentinel() throws IOException {
        Path settings = Files.createTempFile("sentinel", ".conf");
        Files.writeString(settings, """
                sentinel monitor main 127.0.0.1 %d 1
                sentinel down-after-milliseconds main 3000
                sentinel failover-timeout main 3000
                """.formatted(port));
        settings.toFile().deleteOnExit();
        return new RedisProcess(freePort(), List.of(settings.toString(), "--sentinel"));
    }

    /** The commands that ACLs have forbidden. */
    public List<String> forbidden() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("ACL LOG\r\nQUIT\r\n".getBytes(StandardCharsets.UTF_8));
            List<String> lines = new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .lines()
                    .toList();
            List<String> commands = new ArrayList<>();
            for (int i = 0; i + 2 < lines.size(); i++) {
                if (lines.get(i).equals("object")) {
                    commands.add(lines.get(i + 2));
                }
            }
            return commands;
        }
    }

    /** The first line of the answer to a command. */
    public String answer(String command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }

    /** Redis cannot choose a port itself. */
    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private static void awaitReady(Process process, int port) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder said = new StringBuilder();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            said.append(line).append('\n');
            if (line.contains("Ready to accept connections") || line.contains("Sentinel ID is")) {
                Thread reader = new Thread(() -> drain(out), "redis-output");
                reader.setDaemon(true);
                reader.start();
                return;
            }
        }
        throw new IOException("Redis did not start on port %d:%n%s".formatted(port, said));
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

    /** May be called again. */
    @Override
    public void close() {
        if (Files.exists(folder)) {
            kill();
        }
    }

    public void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
            try (Stream<Path> files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder())
                        .forEach(file -> file.toFile().delete());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
