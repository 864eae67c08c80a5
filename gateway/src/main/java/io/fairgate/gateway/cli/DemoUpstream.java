package io.fairgate.gateway.cli;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;

/**
 * A slow API that answers after 50 ms, give or take 10. It measures its own concurrency, and how much of its time each
 * tenant uses. It listens on loopback, on a free port.
 */
final class DemoUpstream {

    private static final int MILLIS = 50;
    private static final int GIVE_OR_TAKE = 10;

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();
    private final Map<String, LongAdder> busyNanos = new ConcurrentHashMap<>();
    private final DisposableServer server = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle((request, response) ->
                    response.sendString(Mono.using(() -> arrive(request), visit -> answer(), this::leave)))
            .bindNow();

    int port() {
        return server.port();
    }

    /** The most requests at once since the last {@link #forget}. */
    int highestConcurrency() {
        return highest.get();
    }

    /** The part of the upstream's time that this tenant used since the last {@link #forget}, from 0 to 1. */
    double shareOf(String tenant) {
        double all = busyNanos.values().stream().mapToLong(LongAdder::sum).sum();
        LongAdder own = busyNanos.get(tenant);
        return own == null || all == 0 ? 0 : own.sum() / all;
    }

    void forget() {
        highest.set(now.get());
        busyNanos.clear();
    }

    private record Visit(String tenant, long since) {}

    private Visit arrive(HttpServerRequest request) {
        highest.accumulateAndGet(now.incrementAndGet(), Math::max);
        String tenant = request.requestHeaders().get("X-Tenant-Id", "nobody");
        return new Visit(tenant, System.nanoTime());
    }

    private static Mono<String> answer() {
        int millis = ThreadLocalRandom.current().nextInt(MILLIS - GIVE_OR_TAKE, MILLIS + GIVE_OR_TAKE + 1);
        return Mono.delay(Duration.ofMillis(millis)).map(tick -> "done after " + millis + " ms\n");
    }

    private void leave(Visit visit) {
        now.decrementAndGet();
        busyNanos.computeIfAbsent(visit.tenant(), t -> new LongAdder()).add(System.nanoTime() - visit.since());
    }
}
