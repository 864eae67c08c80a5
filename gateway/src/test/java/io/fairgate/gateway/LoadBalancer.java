package io.fairgate.gateway;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * HAProxy or nginx, as the system has it, in front of two gateways. Its configuration is the one in docs/rolling-restart.md, with other
 * addresses. It ends with the test, also when the JVM is killed.
 */
final class LoadBalancer implements AutoCloseable {

    private static final List<String> WITH_THE_TEST = List.of("setpriv", "--pdeathsig", "KILL");

    private final FrontProxy.Kind kind;
    private final Process process;
    private final int[] gateways;
    private final int port = FrontProxy.freePort();
    private final int counts = FrontProxy.freePort();

    /**
     * Starts it.
     *
     * @param gateways for each gateway its port and that of its management
     */
    LoadBalancer(FrontProxy.Kind kind, Path folder, int... gateways) throws IOException {
        this.kind = kind;
        this.gateways = gateways;
        Path file = folder.resolve("balancer.conf");
        Files.writeString(file, kind == FrontProxy.Kind.HAPROXY ? haproxy() : nginx());
        List<String> command = kind == FrontProxy.Kind.HAPROXY
                ? List.of("haproxy", "-db", "-f", file.toString())
                : List.of("nginx", "-e", "stderr", "-p", folder.toString(), "-c", file.toString());
        process = new ProcessBuilder(
                        Stream.concat(WITH_THE_TEST.stream(), command.stream()).toList())
                .inheritIO()
                .start();
    }

    private String haproxy() throws IOException {
        String settings = FrontProxy.replaced(
                FrontProxy.block("rolling-restart.md", "haproxy"),
                "bind :80",
                "bind 127.0.0.1:" + port,
                "10.0.0.1:8080 port 8081",
                "127.0.0.1:%d port %d".formatted(gateways[0], gateways[1]),
                "10.0.0.2:8080 port 8081",
                "127.0.0.1:%d port %d".formatted(gateways[2], gateways[3]));
        return settings + "\nfrontend counts\n    bind 127.0.0.1:%d\n    stats uri /\n".formatted(counts);
    }

    private String nginx() throws IOException {
        String settings = FrontProxy.replaced(
                FrontProxy.block("rolling-restart.md", "nginx"),
                "listen 80",
                "listen 127.0.0.1:" + port,
                "10.0.0.1:8080",
                "127.0.0.1:" + gateways[0],
                "10.0.0.2:8080",
                "127.0.0.1:" + gateways[2]);
        return FrontProxy.nginxAround("worker_connections 4096;", settings);
    }

    int port() {
        return port;
    }

    /** Waits until it sends requests to both gateways. nginx does so as soon as their ports are open. */
    void awaitAllUp() {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> kind == FrontProxy.Kind.NGINX || states().equals(List.of("UP", "UP")));
    }

    private List<String> states() throws IOException {
        if (!process.isAlive()) {
            throw new IllegalStateException("HAProxy has ended; its output says why");
        }
        try (RawClient client = new RawClient(counts)) {
            return client.send("GET /;csv HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
                    .readAll()
                    .lines()
                    .filter(line -> line.startsWith("fairgate,") && !line.startsWith("fairgate,BACKEND"))
                    .map(line -> line.split(",", 19)[17])
                    .toList();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
