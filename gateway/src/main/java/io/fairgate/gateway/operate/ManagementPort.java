package io.fairgate.gateway.operate;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The option that names the management port of a running gateway, and calls of its endpoints. */
final class ManagementPort {

    static final JsonMapper JSON = JsonMapper.builder().build();

    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration ANSWER_WITHIN = Duration.ofMinutes(2);

    @Option(
            names = "--gateway",
            paramLabel = "URL",
            defaultValue = "http://localhost:8081",
            description = "The management port of the gateway. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private URI gateway;

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(CONNECT_WITHIN).build();

    /**
     * An answer.
     *
     * @param json an empty object when the body is no JSON
     */
    record Answer(int status, String body, JsonNode json) {

        boolean isOk() {
            return status == 200 && (json.isArray() || json.isObject());
        }
    }

    /** A call did not succeed; the message says what was wrong, and what to do. */
    static final class FailedCallException extends Exception {
        private static final long serialVersionUID = 1;

        FailedCallException(String message) {
            super(message);
        }
    }

    /** Reads an endpoint, with a parameter for each value that is not null. */
    JsonNode get(String endpoint, Map<String, @Nullable String> parameters)
            throws FailedCallException, InterruptedException {
        StringBuilder path = new StringBuilder(endpoint);
        parameters.forEach((name, value) -> {
            if (value != null) {
                path.append(path.indexOf("?") < 0 ? '?' : '&')
                        .append(name)
                        .append('=')
                        .append(encoded(value));
            }
        });
        Answer answer = call("GET", path.toString(), null);
        if (!answer.isOk()) {
            throw unexpected(endpoint, answer);
        }
        return answer.json();
    }

    JsonNode get(String endpoint) throws FailedCallException, InterruptedException {
        return get(endpoint, Map.of());
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Calls an endpoint; a body is JSON. The caller looks at the status. */
    Answer call(String method, String path, @Nullable String body) throws FailedCallException, InterruptedException {
        if (!gateway.isAbsolute() || gateway.getHost() == null) {
            throw new FailedCallException(
                    "--gateway: %s (expected: a URL such as http://localhost:8081)".formatted(gateway));
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base() + "/actuator/" + path))
                .timeout(ANSWER_WITHIN)
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        try {
            HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
            return new Answer(answer.statusCode(), answer.body(), json(answer.body()));
        } catch (IOException e) {
            throw new FailedCallException("%s: no answer: %s (expected: the management port of a gateway, as --gateway)"
                    .formatted(gateway, e));
        }
    }

    private String base() {
        return gateway.toString().replaceFirst("/+$", "");
    }

    private static JsonNode json(String body) {
        try {
            return JSON.readTree(body);
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }

    /** For an answer that the command cannot use. */
    FailedCallException unexpected(String endpoint, Answer answer) {
        return new FailedCallException(
                "%s: status %d: %s (expected: the management port of a gateway with the endpoint %s)"
                        .formatted(gateway, answer.status(), answer.body(), endpoint.replaceFirst("[/?].*", "")));
    }
}
