package io.fairgate.gateway;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Requests at a constant rate, whether answers come or not, as those of many clients: most on connections that stay open, one in ten on
 * a connection of its own, one in three with a body, one in a hundred that takes two seconds. Nothing is sent twice.
 */
final class RateLoad implements AutoCloseable {

    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final String BODY = "x".repeat(10_000);

    private final String url;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService connections = Executors.newCachedThreadPool();
    private final Phaser open = new Phaser(1);
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong sent = new AtomicLong();

    /** @param url to which {@code /quick} and {@code /slow} are added */
    RateLoad(String url) {
        this.url = url;
    }

    /** Begins to send this many requests a second. */
    RateLoad start(int perSecond) {
        var unused = clock.scheduleAtFixedRate(this::send, 0, 1_000_000_000L / perSecond, TimeUnit.NANOSECONDS);
        return this;
    }

    private void send() {
        long number = sent.getAndIncrement();
        open.register();
        if (number % 10 == 1) {
            connections.execute(() -> sendOnItsOwn(number));
            return;
        }
        var unused = client.sendAsync(request(number), BodyHandlers.ofString())
                .whenComplete((answer, error) -> note(number, text(answer, error)));
    }

    private HttpRequest request(long number) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path(number)))
                .timeout(LONGEST)
                .header("X-Tenant-Id", number % 2 == 0 ? "a" : "b");
        return number % 3 == 0 ? request.POST(BodyPublishers.ofString(BODY)).build() : request.build();
    }

    private static String path(long number) {
        return number % 100 == 50 ? "/slow" : "/quick";
    }

    private void sendOnItsOwn(long number) {
        String answer;
        try (RawClient own = new RawClient(URI.create(url).getPort())) {
            own.send("GET %s%s HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: c\r\nConnection: close\r\n\r\n"
                    .formatted(URI.create(url).getPath(), path(number)));
            String all = own.readAll();
            answer = all.startsWith("HTTP/1.1 200 ") && all.endsWith("\r\n\r\nok") ? "200 ok" : all;
        } catch (IOException e) {
            answer = e.toString();
        }
        note(number, answer);
    }

    private static String text(@Nullable HttpResponse<String> answer, @Nullable Throwable error) {
        return answer == null ? String.valueOf(error) : answer.statusCode() + " " + answer.body();
    }

    private void note(long number, String answer) {
        if (!answer.equals("200 ok")) {
            failures.add("request " + number + ": " + answer);
        }
        open.arriveAndDeregister();
    }

    long sent() {
        return sent.get();
    }

    /** Requests that got anything but their answer. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Sends no more, and waits for the answers of all requests. */
    void end() throws InterruptedException {
        clock.shutdown();
        if (!clock.awaitTermination(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("still sends");
        }
        open.arriveAndAwaitAdvance();
    }

    @Override
    public void close() {
        clock.shutdownNow();
        connections.shutdownNow();
    }
}
