package io.fairgate.gateway.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The protocol on a free loopback port, in virtual time, as a client sees it. After the test nothing is held and nothing
 * waits when all peers have been deleted.
 */
final class RunningThrottle implements AfterEachCallback {

    /** An answer. */
    record Seen(int status, String contentType, String body) {}

    static final String TEXT = "text/plain; charset=utf-8";
    static final String JSON = "application/json";

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final Pattern PEER = Pattern.compile("\"id\":(\\d+)");

    final WatchedTime time = new WatchedTime();
    private final ThrottleServer server;

    RunningThrottle(ThrottleSettings settings, String toml) {
        this.server = ThrottleServer.start(
                ThrottleFile.parse(toml), settings, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), time);
    }

    RunningThrottle(String toml) {
        this(ThrottleSettings.STANDARD, toml);
    }

    int port() {
        return server.port();
    }

    // ---- calls ----

    static HttpRequest request(int port, String method, String path, String contentType, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!contentType.isEmpty()) {
            request.header("Content-Type", contentType);
        }
        return request.build();
    }

    static CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
        return CLIENT.sendAsync(request, BodyHandlers.ofString(StandardCharsets.UTF_8))
                .orTimeout(1, TimeUnit.MINUTES);
    }

    static Seen seen(HttpResponse<String> response) {
        return new Seen(
                response.statusCode(),
                response.headers().firstValue("Content-Type").orElse(""),
                response.body());
    }

    CompletableFuture<Seen> start(String method, String path, String body) {
        return send(request(port(), method, path, body.isEmpty() ? "" : JSON, body))
                .thenApply(RunningThrottle::seen);
    }

    Seen ask(String method, String path, String body) {
        return start(method, path, body).join();
    }

    Seen ask(String method, String path) {
        return ask(method, path, "");
    }

    Seen askAs(String contentType, String method, String path, String body) {
        return send(request(port(), method, path, contentType, body))
                .thenApply(RunningThrottle::seen)
                .join();
    }

    /** A new peer that lasts for ten minutes. */
    String peer() {
        return peer("10m");
    }

    String peer(String expiresIn) {
        Seen created = ask("POST", "/new_peer", "{\"expires_in\":\"" + expiresIn + "\"}");
        assertThat(created.status()).isEqualTo(200);
        return created.body();
    }

    /** A peer that holds a lock. */
    String holder(String semaphore, int count) {
        String peer = peer();
        assertThat(lock(peer, semaphore, count)).isEqualTo(acquired(peer));
        return peer;
    }

    Seen lock(String peer, String semaphore, long count) {
        return ask("PUT", "/peers/" + peer + "/" + semaphore, Long.toString(count));
    }

    /** A request that waits for a lock; its time has begun. */
    CompletableFuture<Seen> blocked(String peer, String semaphore, int count, Duration blockFor) {
        CompletableFuture<Seen> answer = start(
                "PUT",
                "/peers/%s/%s?block_for=%dms".formatted(peer, semaphore, blockFor.toMillis()),
                Integer.toString(count));
        time.awaitTimer(blockFor);
        return answer;
    }

    Seen isAcquired(String peer) {
        return ask("GET", "/peers/" + peer + "/is_acquired");
    }

    Seen remainder(String semaphore) {
        return ask("GET", "/remainder?semaphore=" + semaphore);
    }

    String metric(String line) {
        Matcher value = Pattern.compile("^" + Pattern.quote(line) + " (.*)$", Pattern.MULTILINE)
                .matcher(ask("GET", "/metrics").body());
        return value.find() ? value.group(1) : "none";
    }

    // ---- expected answers ----

    static Seen acquired(String peer) {
        return json(200, peer);
    }

    static Seen pending(String peer) {
        return json(202, peer);
    }

    static Seen json(int status, String body) {
        return new Seen(status, JSON, body);
    }

    static Seen text(int status, String body) {
        return new Seen(status, TEXT, body);
    }

    static Seen domain(int status, String body) {
        return new Seen(status, "", body);
    }

    static final Seen OK = text(200, "Ok");
    static final Seen UNKNOWN_PEER = domain(400, "Unknown peer");

    void end() {
        server.end();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        try {
            PEER.matcher(ask("GET", "/peers/").body())
                    .results()
                    .forEach(peer -> ask("DELETE", "/peers/" + peer.group(1)));
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThat(ask("GET", "/metrics").body().lines())
                                    .filteredOn(line ->
                                            line.startsWith("throttle_acquired") || line.startsWith("throttle_pending"))
                                    .allMatch(line -> line.endsWith(" 0")));
        } finally {
            end();
        }
    }
}
