package io.fairgate.gateway.cli;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The clients of one tenant: each has a connection of its own and sends one request after the other. */
final class DemoTraffic {

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
        Queue<Long> latencies = new ConcurrentLinkedQueue<>();
        LongAdder failed = new LongAdder();
        return Mono.defer(() -> {
                    long until = System.nanoTime() + time.toNanos();
                    return Flux.range(0, connections)
                            .flatMap(
                                    i -> startLater(i)
                                            .then(Mono.defer(() -> send(path, latencies, failed))
                                                    .repeat(() -> System.nanoTime() < until)
                                                    .then()),
                                    connections)
                            .then();
                })
                .then(Mono.fromSupplier(
                        () -> new Outcome(tenant, latencies.stream().sorted().toList(), failed.intValue())));
    }

    /** Real clients do not all start in the same millisecond. */
    private Mono<Long> startLater(int index) {
        return Mono.delay(Duration.ofMillis(50L * index / connections));
    }

    private Mono<Void> send(String path, Queue<Long> latencies, LongAdder failed) {
        long start = System.nanoTime();
        return client.get()
                .uri(path)
                .responseSingle((response, body) ->
                        body.asByteArray().then(Mono.just(response.status().code())))
                .onErrorReturn(0)
                .doOnNext(status -> {
                    sent.increment();
                    if (status == 200) {
                        latencies.add(System.nanoTime() - start);
                    } else {
                        failed.increment();
                    }
                })
                .then();
    }
}
