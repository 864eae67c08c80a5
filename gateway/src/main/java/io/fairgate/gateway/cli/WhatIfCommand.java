package io.fairgate.gateway.cli;

import io.fairgate.gateway.start.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code what-if FILE}: has a running gateway replay its latest requests under another policy. */
@Command(
        name = "what-if",
        description =
                "Tells what a policy would do: a running gateway replays its latest requests under it, and changes nothing.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class WhatIfCommand implements Callable<Integer> {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
    private static final Duration ANSWER_WITHIN = Duration.ofMinutes(2);

    @Parameters(paramLabel = "FILE", description = "The candidate: a policy file.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private Path file;

    @Option(
            names = "--gateway",
            paramLabel = "URL",
            defaultValue = "http://localhost:8081",
            description = "The management port of the gateway. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private URI gateway;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Replay the requests of the latest N seconds. Default: all that are recorded.")
    private @Nullable Integer seconds;

    @Option(names = "--json", description = "Print the answer of the gateway as it is.")
    private boolean isJson;

    @Spec
    @SuppressWarnings("NullAway.Init") // by picocli
    private CommandSpec command;

    @Override
    public Integer call() throws InterruptedException {
        String policy;
        try {
            policy = Files.readString(file);
        } catch (IOException e) {
            return fail("%s cannot be read: %s".formatted(file, e));
        }
        if (!gateway.isAbsolute() || gateway.getHost() == null) {
            return fail("--gateway: %s (expected: a URL such as http://localhost:8081)".formatted(gateway));
        }
        try {
            return print(ask(policy));
        } catch (IOException e) {
            return fail("%s: no answer: %s (expected: the management port of a gateway, as --gateway)"
                    .formatted(gateway, e));
        }
    }

    private HttpResponse<String> ask(String policy) throws IOException, InterruptedException {
        Map<String, Object> body = new LinkedHashMap<>(Map.of("policy", policy));
        if (seconds != null) {
            body.put("seconds", seconds);
        }
        HttpRequest request = HttpRequest.newBuilder(gateway.resolve("/actuator/whatif"))
                .timeout(ANSWER_WITHIN)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)))
                .build();
        HttpClient client =
                HttpClient.newBuilder().connectTimeout(CONNECT_WITHIN).build();
        return client.send(request, BodyHandlers.ofString());
    }

    private int print(HttpResponse<String> answer) {
        JsonNode json;
        try {
            json = JSON.readTree(answer.body());
        } catch (JacksonException e) {
            json = JSON.createObjectNode();
        }
        if (json.path("mistakes").isArray()) {
            json.path("mistakes")
                    .forEach(mistake -> fail(mistake.asString().replaceFirst("^candidate:", file.toString() + ":")));
            return 1;
        } else if (answer.statusCode() == 413) {
            return fail("%s is too large for the gateway (expected: at most 2 MB)".formatted(file));
        } else if (answer.statusCode() != 200 || !json.path("pools").isArray()) {
            return fail("%s: status %d: %s (expected: the management port of a gateway with the endpoint whatif)"
                    .formatted(gateway, answer.statusCode(), answer.body()));
        }
        PrintWriter out = command.commandLine().getOut();
        if (isJson) {
            out.println(answer.body());
        } else {
            new WhatIfTable(json, String.valueOf(file.getFileName())).print(out);
        }
        out.flush();
        return 0;
    }

    private int fail(String message) {
        command.commandLine().getErr().println(message);
        return 1;
    }
}
