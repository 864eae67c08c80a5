package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.process.GcLog;
import io.fairgate.benchmarks.process.MeasuredProcess;
import io.fairgate.benchmarks.process.Processors;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Fairgate gateway that has one processor, so that the load has another one, and can be more than the gateway carries. */
final class LimitedGateway implements AutoCloseable {

    /** Of the gateway. */
    static final int PROCESSOR = 0;

    private static final Pattern SERVES =
            Pattern.compile("serves on port (?<traffic>\\d+), management on port (?<management>\\d+)");
    private static final Pattern LAG = Pattern.compile("fairgate_event_loop_lag_seconds (\\S+)");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final GcLog log;
    private final MeasuredProcess process;
    private final Matcher ports;
    private final HttpClient client = HttpClient.newHttpClient();

    /** @param maxLag the bound of the event loops' lag */
    LimitedGateway(Surroundings surroundings, FairgatePolicy policy, String maxLag) throws IOException {
        Path folder = surroundings.folder();
        Path file = folder.resolve("overload.yml");
        Files.writeString(file, policy.text(surroundings.upstream().port()));
        Path collections = folder.resolve("overload-gc.log");
        Files.deleteIfExists(collections);
        log = new GcLog(collections);
        List<String> command = new ArrayList<>(Processors.only(PROCESSOR));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // All of the heap is touched at the start, so memory that the process gets later is outside of the heap.
        command.addAll(List.of("-XX:ActiveProcessorCount=1", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"));
        command.addAll(List.of(log.option(), "-jar", surroundings.jar().toString(), "serve"));
        command.addAll(List.of("--config", file.toString(), "--server.port=0", "--server.address=127.0.0.1"));
        command.addAll(List.of("--management.server.port=0", "--fairgate.overload.max-lag=" + maxLag));
        process = new MeasuredProcess(command);
        ports = process.await(SERVES);
    }

    int port() {
        return Integer.parseInt(ports.group("traffic"));
    }

    Duration used() {
        return process.used();
    }

    /** The highest lag of the last half a minute or longer, in seconds, as its metrics say. */
    double highestLag() throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + ports.group("management") + "/actuator/prometheus");
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
        String page = client.send(request, BodyHandlers.ofString()).body();
        Matcher lag = LAG.matcher(page);
        if (!lag.find()) {
            throw new IOException("no lag among the metrics (expected: %s)".formatted(LAG));
        }
        return Double.parseDouble(lag.group(1));
    }

    /** The heap in use after a full collection, in megabytes. */
    double heapMegabytes() throws IOException {
        process.collectGarbage();
        return log.usedMegabytes();
    }

    double residentMegabytes() throws IOException {
        return process.residentMegabytes();
    }

    @Override
    public void close() {
        process.close();
    }
}
