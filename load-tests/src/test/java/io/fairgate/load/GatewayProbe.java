package io.fairgate.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/**
 * Checks before the load that the gateway answers the requests of the run. Otherwise a wrong port or a wrong route would show
 * only half a minute later, as a table of failures.
 */
public record GatewayProbe(URI gateway) {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    void expectAnswer(String path, String tenant) {
        URI uri = URI.create(gateway + path);
        int status = send(HttpRequest.newBuilder(uri).header(NoisyNeighbourSimulation.TENANT_HEADER, tenant))
                .statusCode();
        if (status != 200) {
            throw new IllegalStateException(
                    "GET %s as tenant %s answers %d (expected: 200)".formatted(uri, tenant, status));
        }
    }

    /**
     * Asks once, without a credential, and returns the body of the answer, whatever its status is.
     *
     * @throws IllegalStateException if no answer comes
     */
    public static String requireAnswer(String url) {
        return send(HttpRequest.newBuilder(URI.create(url))).body();
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        // Without a proxy: the build gives this JVM a proxy that does not exist.
        HttpClient client = HttpClient.newBuilder()
                .proxy(HttpClient.Builder.NO_PROXY)
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(PATIENCE)
                .build();
        HttpRequest ready = request.timeout(PATIENCE).build();
        try {
            return client.send(ready, HttpResponse.BodyHandlers.ofString());
        } catch (IOException unreachable) {
            // Without the cause: its long stack trace names no host, and would hide the helpful sentence.
            throw new IllegalStateException("no gateway answers at %s (%s); start one, or name it by -Dgateway=URL"
                    .formatted(ready.uri(), unreachable));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking " + ready.uri(), interrupted);
        }
    }
}
