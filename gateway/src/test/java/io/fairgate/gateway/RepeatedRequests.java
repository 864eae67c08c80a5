package io.fairgate.gateway;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Clients that send a request again and again, whatever happens to the one before, and count how each ended. */
final class RepeatedRequests {

    private static final long MILLIS_AFTER_FAILURE = 20;

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final Phaser open = new Phaser(1);
    private final Map<String, AtomicInteger> outcomes = new ConcurrentHashMap<>();
    private volatile boolean isOver;

    /** @param patience how long each client waits for an answer */
    RepeatedRequests(int clients, String url, String tenant, Duration patience) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .header("X-Tenant-Id", tenant)
                .timeout(patience)
                .build();
        for (int i = 0; i < clients; i++) {
            open.register();
            send(request);
        }
    }

    private void send(HttpRequest request) {
        var unused = client.sendAsync(request, BodyHandlers.ofString()).whenComplete((answer, error) -> {
            String outcome = answer == null ? "no answer" : Integer.toString(answer.statusCode());
            outcomes.computeIfAbsent(outcome, name -> new AtomicInteger()).incrementAndGet();
            if (isOver) {
                open.arriveAndDeregister();
            } else if (answer != null && answer.statusCode() == 200) {
                send(request);
            } else {
                CompletableFuture.delayedExecutor(MILLIS_AFTER_FAILURE, TimeUnit.MILLISECONDS)
                        .execute(() -> send(request));
            }
        });
    }

    /** How many requests ended with this status. */
    int count(String outcome) {
        AtomicInteger count = outcomes.get(outcome);
        return count == null ? 0 : count.get();
    }

    int served() {
        return count("200");
    }

    Map<String, AtomicInteger> outcomes() {
        return outcomes;
    }

    /** Sends no more, and waits until each request has ended. */
    void end() throws Exception {
        isOver = true;
        open.awaitAdvanceInterruptibly(open.arrive(), 2, TimeUnit.MINUTES);
    }
}
