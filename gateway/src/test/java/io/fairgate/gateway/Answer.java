package io.fairgate.gateway;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The answer to an ordinary HTTP client. */
record Answer(int status, HttpHeaders headers, String body) {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Asks, with headers as name, value, name, value. */
    static CompletableFuture<Answer> future(String url, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(30));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString()).thenApply(Answer::of);
    }

    static Answer to(String url, String... headers) {
        return future(url, headers).join();
    }

    private static Answer of(HttpResponse<String> response) {
        return new Answer(response.statusCode(), response.headers(), response.body());
    }

    /** The lines of a field. */
    List<String> lines(String field) {
        return headers.allValues(field);
    }

    /** A field as one line, empty when it is not there. */
    String field(String name) {
        return String.join(", ", lines(name));
    }

    Map<String, Object> json() {
        return JSON.readValue(body, new TypeReference<>() {});
    }

    long number(String key) {
        return ((Number) Objects.requireNonNull(json().get(key))).longValue();
    }

    String json(String key) {
        return String.valueOf(json().get(key));
    }
}
