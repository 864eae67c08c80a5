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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The option that names the management port of a running gateway, and calls of its endpoints. */
final class ManagementPort {

    static final JsonMapper JSON = JsonMapper.builder().build();

    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);
    private static final int LONGEST_SHOWN = 300;

    @Option(
            names = "--gateway",
            paramLabel = "URL",
            defaultValue = "http://${env:MANAGEMENT_SERVER_ADDRESS:-localhost}:${env:MANAGEMENT_SERVER_PORT:-8081}",
            description = {
                "The management port of the gateway. The variables MANAGEMENT_SERVER_ADDRESS and MANAGEMENT_SERVER_PORT are read.",
                "Default: ${DEFAULT-VALUE}."
            })
    @SuppressWarnings("NullAway.Init") // by picocli
    private URI gateway;

    @Option(
            names = "--endpoints",
            paramLabel = "PATH",
            defaultValue = "/actuator",
            description = "The path of the endpoints below that URL. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private String endpoints;

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(CONNECT_WITHIN).build();

    /**
     * An answer.
     *
     * @param json a missing node when the body is no JSON
     */
    record Answer(int status, String body, JsonNode json) {}

    /** A call did not succeed; the message says what was wrong, and what to do. */
    static final class FailedCallException extends Exception {
        private static final long serialVersionUID = 1;

        FailedCallException(String message) {
            super(message);
        }
    }

    /**
     * Reads an endpoint, with a parameter for each value that is not null.
     *
     * @param isExpected whether an answer is one of this endpoint: something else may listen there
     */
    JsonNode get(String endpoint, Map<String, @Nullable String> parameters, Predicate<JsonNode> isExpected)
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
        if (answer.status() != 200 || !isExpected.test(answer.json())) {
            throw unexpected(endpoint, answer);
        }
        return answer.json();
    }

    /** The pools, by name. */
    JsonNode pools() throws FailedCallException, InterruptedException {
        return get("pools", Map.of(), ManagementPort::arePools);
    }

    private static boolean arePools(JsonNode json) {
        return json.isObject()
                && json.properties().stream()
                        .allMatch(pool -> pool.getValue().path("permits").isInt());
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Calls an endpoint; a body is JSON. The caller looks at the status. */
    Answer call(String method, String path, @Nullable String body) throws FailedCallException, InterruptedException {
        return call(method, path, body, ANSWER_WITHIN);
    }

    Answer call(String method, String path, @Nullable String body, Duration within)
            throws FailedCallException, InterruptedException {
        boolean isUrl = gateway.getHost() != null
                && gateway.getQuery() == null
                && ("http".equals(gateway.getScheme()) || "https".equals(gateway.getScheme()));
        if (!isUrl) {
            throw new FailedCallException(
                    "--gateway: %s (expected: a URL such as http://localhost:8081)".formatted(gateway));
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base() + path))
                .timeout(within)
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        try {
            HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
            return new Answer(answer.statusCode(), answer.body(), json(answer.body()));
        } catch (IOException e) {
            throw new FailedCallException("%s: no answer: %s (expected: the management port of a gateway, as --gateway)"
                    .formatted(gateway, e.getMessage() == null ? "no connection" : e.getMessage()));
        }
    }

    private String base() {
        String path = endpoints.replaceAll("^/+|/+$", "");
        return gateway.toString().replaceFirst("/+$", "") + (path.isEmpty() ? "/" : "/" + path + "/");
    }

    private static JsonNode json(String body) {
        try {
            return JSON.readTree(body);
        } catch (JacksonException e) {
            return JSON.missingNode();
        }
    }

    /** For an answer that the command cannot use. */
    FailedCallException unexpected(String endpoint, Answer answer) {
        String body = Table.text(answer.body());
        String shown = body.length() <= LONGEST_SHOWN ? body : body.substring(0, LONGEST_SHOWN) + "…";
        return new FailedCallException(
                "%s: status %d: %s (expected: the management port of a gateway with the endpoint %s)"
                        .formatted(base(), answer.status(), shown, endpoint.replaceFirst("[/?].*", "")));
    }
}
