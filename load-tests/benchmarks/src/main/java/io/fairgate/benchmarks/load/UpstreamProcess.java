package io.fairgate.benchmarks.load;

import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An {@link Upstream} in a process of its own. */
public final class UpstreamProcess implements AutoCloseable {

    /** How long the slow service takes for a request. */
    public static final Duration SERVICE = Duration.ofMillis(50);

    /** How many requests the slow service works on at a time. */
    public static final int SERVERS = 32;

    /** The path of the slow service. */
    public static final String SLOW = Upstream.SLOW;

    private static final Pattern LISTENS = Pattern.compile("^port (\\d+)");
    private static final Pattern STATISTICS = Pattern.compile("busy (\\d+) most (\\d+)");

    private final MeasuredProcess process;
    private final int port;
    private final HttpClient client = HttpClient.newHttpClient();

    public UpstreamProcess() throws IOException {
        process = MeasuredProcess.java(List.of(
                "-Xmx128m",
                "-classpath",
                System.getProperty("java.class.path"),
                Upstream.class.getName(),
                Long.toString(SERVICE.toMillis()),
                Integer.toString(SERVERS)));
        port = Integer.parseInt(process.await(LISTENS).group(1));
    }

    public int port() {
        return port;
    }

    public Duration used() {
        return process.used();
    }

    /** What the slow service has done until now. */
    public SlowService slowService() throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + port + Upstream.STATISTICS);
        String text = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body();
        Matcher numbers = STATISTICS.matcher(text);
        if (!numbers.matches()) {
            throw new IOException("%s (expected: %s)".formatted(text, STATISTICS));
        }
        return new SlowService(Duration.ofNanos(Long.parseLong(numbers.group(1))), Integer.parseInt(numbers.group(2)));
    }

    /**
     * What the slow service has done.
     *
     * @param busy the time of all servers together, since the start
     * @param mostAtOnce the most requests at a time since the last call, including those that wait in the upstream
     */
    public record SlowService(Duration busy, int mostAtOnce) {}

    @Override
    public void close() {
        process.close();
    }
}
