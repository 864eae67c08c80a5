package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import org.jspecify.annotations.Nullable;

/** A constant number of open requests of each tenant: each is sent again as soon as it is answered. */
final class SteadyLoad {

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Phaser open = new Phaser(1);
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    /** Keeps this many requests of the tenant open: more than its permits, so that some always wait. */
    SteadyLoad keep(int requests, String url, String tenant) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .header("X-Tenant-Id", tenant)
                .build();
        for (int i = 0; i < requests; i++) {
            open.register();
            send(request);
        }
        return this;
    }

    private void send(HttpRequest request) {
        var unused = client.sendAsync(request, BodyHandlers.ofString()).whenComplete((answer, error) -> {
            note(answer, error);
            if (over || error != null) {
                open.arriveAndDeregister();
            } else {
                send(request);
            }
        });
    }

    private void note(@Nullable HttpResponse<String> answer, @Nullable Throwable error) {
        if (answer == null) {
            failures.add(String.valueOf(error));
        } else if (answer.statusCode() != 200) {
            failures.add(answer.statusCode() + " " + answer.body());
        }
    }

    /** Sends no more, and waits until all requests are answered; none may have been refused. */
    void end() {
        over = true;
        open.arriveAndAwaitAdvance();
        assertThat(failures).isEmpty();
    }
}
