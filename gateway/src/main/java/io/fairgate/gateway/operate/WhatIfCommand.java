package io.fairgate.gateway.operate;

import io.fairgate.gateway.operate.ManagementPort.Answer;
import io.fairgate.gateway.operate.ManagementPort.FailedCallException;
import io.fairgate.gateway.start.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code what-if FILE}: has a running gateway replay its latest requests under another policy. */
@Command(
        name = "what-if",
        description =
                "Tells what a policy would do: a running gateway replays its latest requests under it, and changes nothing.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class WhatIfCommand extends ManagementCommand {

    private static final Duration REPLAYED_WITHIN = Duration.ofMinutes(2);

    @Parameters(paramLabel = "FILE", description = "The candidate: a policy file.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private Path file;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Replay the requests of the latest N seconds. Default: all that are recorded.")
    private @Nullable Integer seconds;

    @Override
    int run(PrintWriter out) throws FailedCallException, InterruptedException {
        Map<String, Object> body = new LinkedHashMap<>();
        try {
            body.put("policy", Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new FailedCallException("%s cannot be read: there is no such file".formatted(file));
        } catch (CharacterCodingException e) {
            throw new FailedCallException("%s cannot be read: it is not UTF-8".formatted(file));
        } catch (IOException e) {
            throw new FailedCallException("%s cannot be read: %s".formatted(file, e.getMessage()));
        }
        if (seconds != null) {
            body.put("seconds", seconds);
        }
        return print(
                gateway.call("POST", "whatif", ManagementPort.JSON.writeValueAsString(body), REPLAYED_WITHIN), out);
    }

    private int print(Answer answer, PrintWriter out) throws FailedCallException {
        JsonNode json = answer.json();
        if (json.path("mistakes").isArray()) {
            json.path("mistakes")
                    .forEach(mistake -> fail(Table.text(mistake.asString())
                            .replaceFirst("^candidate:", Matcher.quoteReplacement(file + ":"))));
            return 1;
        } else if (answer.status() == 413) {
            return fail("%s is too large for the gateway (expected: at most 2 MB)".formatted(file));
        } else if (answer.status() != 200 || !json.path("pools").isArray()) {
            throw gateway.unexpected("whatif", answer);
        }
        if (isJson) {
            out.println(answer.body());
        } else {
            new WhatIfTable(json, String.valueOf(file.getFileName())).print(out);
        }
        return 0;
    }
}
