package io.fairgate.gateway.cache;

import io.fairgate.gateway.http.Bytes;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * A gateway in a process of its own, with the policy of the demo and an upstream that answers at once. All ports are free ones
 * on loopback. Neither an {@code application.yml} nor variables of the environment change its settings.
 */
final class TrainingRun implements AutoCloseable {

    static final Charset OUTPUT = StandardCharsets.UTF_8;

    private static final Pattern SERVES =
            Pattern.compile("serves on port (\\d+), management on port (\\d+), leases on port (\\d+)");
    private static final Pattern SETTING = Pattern.compile("(SERVER|SPRING|MANAGEMENT|FAIRGATE|LOGGING)_.*");
    /** The JVM reads its own options from it, and this process has passed them on already. */
    private static final String JVM_OPTIONS = "JDK_JAVA_OPTIONS";

    private static final long MINUTES = 5;

    private final Path folder;
    private final Process process;
    private final Thread killer;
    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle((request, response) -> response.sendString(Mono.just("ok\n")))
            .bindNow();

    TrainingRun(Program program, String recordOption) throws IOException {
        folder = Files.createTempDirectory("fairgate-start-cache");
        String port = ":" + upstream.port();
        Path policy = Files.writeString(
                folder.resolve("fairgate.yml"),
                new String(Bytes.beside(TrainingRun.class, "/demo.yml"), StandardCharsets.UTF_8)
                        .replace(":PLAIN", port)
                        .replace(":FAIR", port));
        ProcessBuilder builder = new ProcessBuilder(program.command(List.of(recordOption), options(policy)));
        builder.environment()
                .keySet()
                .removeIf(name ->
                        name.equals(JVM_OPTIONS) || SETTING.matcher(name).matches());
        process = builder.directory(folder.toFile()).redirectErrorStream(true).start();
        killer = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(killer);
    }

    private static List<String> options(Path policy) {
        return List.of(
                "serve",
                "--config",
                policy.toString(),
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--fairgate.shutdown-grace=0s",
                "--fairgate.leases.enabled=true",
                "--fairgate.leases.port=0",
                "--fairgate.leases.throttle.enabled=true",
                "--fairgate.leases.throttle.default-tenant=quiet");
    }

    /**
     * Returns what the gateway has printed, after it has ended.
     *
     * @throws StartCacheException when it does not start, cannot be asked to end, or does not end
     */
    String serveSomeRequests() throws StartCacheException, IOException, InterruptedException {
        if (!process.supportsNormalTermination()) {
            throw new StartCacheException(
                    "start-cache: this system can only kill a process (expected: one that can ask it to end)");
        }
        try (BufferedReader output = process.inputReader(OUTPUT)) {
            StringBuilder lines = new StringBuilder();
            TrainingRequests.send(serving(output, lines));
            // Not Process.destroy, which would close the output: it is read to its end, and that is after the file is
            // written.
            process.toHandle().destroy();
            lines.append(output.lines().collect(Collectors.joining("\n")));
            if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
                throw new StartCacheException(
                        "start-cache: the JVM did not end within %d minutes:%n%s".formatted(MINUTES, lines));
            }
            return lines.toString();
        }
    }

    private static Matcher serving(BufferedReader output, StringBuilder lines) throws IOException, StartCacheException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            lines.append(line).append('\n');
            Matcher ports = SERVES.matcher(line);
            if (ports.find()) {
                return ports;
            }
        }
        throw new StartCacheException("start-cache: the gateway did not start:%n%s".formatted(lines));
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Runtime.getRuntime().removeShutdownHook(killer);
        upstream.disposeNow();
        for (Path left : List.of(folder.resolve("fairgate.yml"), folder)) {
            Files.deleteIfExists(left);
        }
    }
}
