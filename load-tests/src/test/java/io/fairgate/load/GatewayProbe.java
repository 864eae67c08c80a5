package io.fairgate.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/**
 * Asks once, before any load, whether the gateway answers the requests that the run is made of. Without it a run against
 * nothing, or against routes of another name, ends half a minute later in a table of failures.
 */
record GatewayProbe(URI gateway) {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    void expectAnswer(String path, String tenant) {
        URI uri = URI.create(gateway + path);
        int status = status(uri, tenant);
        if (status != 200) {
            throw new IllegalStateException(
                    "GET %s as tenant %s answers %d (expected: 200)".formatted(uri, tenant, status));
        }
    }

    private static int status(URI uri, String tenant) {
        // Without proxy: the build gives this JVM one that leads nowhere.
        HttpClient client = HttpClient.newBuilder()
                .proxy(HttpClient.Builder.NO_PROXY)
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(PATIENCE)
                .build();
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header(NoisyNeighbourSimulation.TENANT_HEADER, tenant)
                .timeout(PATIENCE)
                .build();
        try {
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException unreachable) {
            // Not as the cause: its trace is long, names no host, and buries the sentence that helps.
            throw new IllegalStateException("no gateway answers at %s (%s); start one, or name it by -Dgateway=URL"
                    .formatted(uri, unreachable));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking " + uri, interrupted);
        }
    }
}
