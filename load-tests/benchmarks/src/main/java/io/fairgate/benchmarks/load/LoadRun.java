package io.fairgate.benchmarks.load;

import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** The state that the connections of a load share. All of them have the same event loop. */
final class LoadRun {

    private static final int OK = 200;

    final CompletableFuture<LoadResult> result = new CompletableFuture<>();

    private final Load load;
    private final List<ByteBuf> requests;
    private final long countedFrom;
    private final long end;
    private final Latencies latencies = new Latencies();
    private int connections;
    private long sent;
    private long refused;
    private long answered;
    private long lastAnswer;

    LoadRun(Load load) {
        this.load = load;
        this.connections = load.connections();
        this.requests = load.tenants().isEmpty()
                ? List.of(request(load.path(), ""))
                : load.tenants().stream()
                        .map(tenant -> request(load.path(), "X-Tenant-Id: " + tenant + "\r\n"))
                        .toList();
        countedFrom = System.nanoTime() + load.leadIn().toNanos();
        end = countedFrom + load.time().toNanos();
    }

    private static ByteBuf request(String path, String identity) {
        return PreparedBytes.of("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n".formatted(path, identity));
    }

    Duration pause() {
        return load.pause();
    }

    boolean goesOn() {
        return sent < load.atMost() && System.nanoTime() - end < 0 && !result.isDone();
    }

    ByteBuf nextRequest() {
        return requests.get((int) (sent++ % requests.size())).duplicate();
    }

    /** Whether the request was refused. */
    boolean answered(int status, long sentAt) {
        long now = System.nanoTime();
        answered++;
        lastAnswer = now;
        if (!load.answers().contains(status)) {
            failed(new IllegalStateException("%d (expected: %s)".formatted(status, expected())));
        }
        boolean isForwarded = status == OK;
        if (now - countedFrom >= 0 && now - end < 0) {
            if (isForwarded) {
                latencies.add(now - sentAt);
            } else {
                refused++;
            }
        }
        return !isForwarded;
    }

    private String expected() {
        return load.answers().stream().sorted().map(String::valueOf).collect(Collectors.joining(" or "));
    }

    void failed(Throwable cause) {
        result.completeExceptionally(cause);
    }

    /** A connection has nothing more to do. */
    void connectionEnded() {
        if (--connections == 0) {
            // A load with a number of requests ends with the last one.
            Duration time = Duration.ofNanos(Math.min(end, lastAnswer) - countedFrom);
            result.complete(new LoadResult(time, latencies, refused, answered));
        }
    }
}
