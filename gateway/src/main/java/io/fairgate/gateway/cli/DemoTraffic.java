package io.fairgate.gateway.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The clients of one tenant: each has a connection of its own and sends one request after the other. */
final class DemoTraffic {

    private static final long FAILED = -1;

    private final String tenant;
    private final int connections;
    private final HttpClient client;
    private final LongAdder sent = new LongAdder();

    DemoTraffic(String gateway, String tenant, int connections) {
        this.tenant = tenant;
        this.connections = connections;
        this.client = HttpClient.create(ConnectionProvider.create("demo-" + tenant, connections))
                .baseUrl(gateway)
                .headers(headers -> headers.set("X-Tenant-Id", tenant));
    }

    /** The result of a run: latencies in nanoseconds, sorted, only of requests that were answered with 200. */
    record Outcome(String tenant, List<Long> latencies, int failed) {

        int requests() {
            return latencies.size() + failed;
        }

        double millisAt(double quantile) {
            if (latencies.isEmpty()) {
                return Double.NaN;
            }
            return latencies.get((int) Math.min(latencies.size() - 1, (long) (quantile * latencies.size()))) / 1e6;
        }
    }

    String tenant() {
        return tenant;
    }

    /** The number of answers so far, over all runs. */
    long answered() {
        return sent.sum();
    }

    /** Sends for that time, and waits for the requests that are under way at its end. */
    Mono<Outcome> run(String path, Duration time) {
        return Mono.defer(() -> {
            long until = System.nanoTime() + time.toNanos();
            return Flux.range(0, connections)
                    .flatMap(
                            i -> startLater(i)
                                    .thenMany(Mono.defer(() -> send(path)).repeat(() -> System.nanoTime() < until)),
                            connections)
                    .collectList()
                    .map(this::outcome);
        });
    }

    private Outcome outcome(List<Long> latencies) {
        List<Long> sorted =
                latencies.stream().filter(nanos -> nanos != FAILED).sorted().toList();
        return new Outcome(tenant, sorted, latencies.size() - sorted.size());
    }

    /** Real clients do not all start in the same millisecond. */
    private Mono<Long> startLater(int index) {
        return Mono.delay(Duration.ofMillis(50L * index / connections));
    }

    /** Emits the latency in nanoseconds. */
    private Mono<Long> send(String path) {
        long start = System.nanoTime();
        return client.get()
                .uri(path)
                .responseSingle((response, body) ->
                        body.asByteArray().then(Mono.just(response.status().code())))
                .onErrorReturn(0)
                .doOnNext(status -> sent.increment())
                .map(status -> status == 200 ? System.nanoTime() - start : FAILED);
    }
}
