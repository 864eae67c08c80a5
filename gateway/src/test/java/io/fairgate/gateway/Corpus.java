package io.fairgate.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reactor.netty.http.client.HttpClient;

/**
 * Cases in a file of {@code src/test/resources/corpus}: what is sent, and what comes of it. A case begins with {@code ==} and
 * its name. Its outcome is in lines that begin with {@code <-}, what the client got, {@code ->}, what the upstream got, and
 * {@code ~>}, what it gets only when the parts of the request come in several reads. Lines that begin with {@code #} before the
 * first case are comments.
 */
final class Corpus {

    private static final Pattern ESCAPES = Pattern.compile("\\\\x([0-9a-f]{2})|\\\\([rnt\\\\])|\\{(\\d+)\\*([^}]+)}");

    private static final Pattern REASON = Pattern.compile("\"reason\":\"([^\"]*)\"");
    /** What Reactor Netty's client adds where the request has no such fields. */
    private static final Set<String> OF_THE_CLIENT = Set.of("user-agent: " + HttpClient.USER_AGENT, "accept: */*");

    /** What the gateway says about most requests: they come from here, for the host "test". */
    private static final Set<String> OF_THE_GATEWAY = Set.of(
            "X-Forwarded-For: 127.0.0.1",
            "X-Forwarded-Proto: http",
            "X-Forwarded-Host: test",
            "X-Forwarded-Port: 80",
            "Forwarded: for=127.0.0.1;proto=http;host=\"test\"");

    private static final List<String> OUTCOMES = List.of("<- ", "-> ", "~> ");

    /** Longer lines are shown by their beginning and their length. */
    private static final int LONG = 200;

    private Corpus() {}

    /**
     * One case.
     *
     * @param sent the lines to send
     * @param outcome the lines of its outcome
     */
    record Case(String name, List<String> sent, List<String> outcome) {

        /**
         * The lines as bytes of HTTP/1.1: each ends with CR and LF, unless it ends with a backslash. {@code \r}, {@code \n}, {@code \t},
         * {@code \\} and {@code \x00} are characters, and <code>{3*ab}</code> is {@code ababab}.
         */
        String text() {
            StringBuilder text = new StringBuilder();
            for (String line : sent) {
                boolean joined = line.endsWith("\\") && !line.endsWith("\\\\");
                text.append(unescaped(joined ? line.substring(0, line.length() - 1) : line))
                        .append(joined ? "" : "\r\n");
            }
            return text.toString();
        }

        /** The outcomes that are right: one, or two when the upstream may get something. */
        List<String> outcomes() {
            String most = String.join("\n", outcome).replace("~> ", "-> ");
            String least =
                    outcome.stream().filter(line -> !line.startsWith("~> ")).collect(Collectors.joining("\n"));
            return List.of(most, least);
        }

        /** Shown by JUnit. */
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> read(String file) {
        List<Case> cases = new ArrayList<>();
        InputStream in = Objects.requireNonNull(Corpus.class.getResourceAsStream("/corpus/" + file), file);
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith("== ")) {
                    cases.add(new Case(line.substring(3), new ArrayList<>(), new ArrayList<>()));
                } else if (!cases.isEmpty()) {
                    Case last = cases.get(cases.size() - 1);
                    boolean isOutcome = OUTCOMES.stream().anyMatch(line::startsWith);
                    // A line behind the outcome is the empty one before the next case.
                    if (isOutcome || last.outcome.isEmpty()) {
                        (isOutcome ? last.outcome : last.sent).add(line);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return cases.stream();
    }

    /** A response: its status, and the reason of a refusal or the body. */
    static String shown(int status, String body) {
        Matcher reason = REASON.matcher(body);
        return (status + " " + (reason.find() ? reason.group(1) : body)).trim();
    }

    /** The requests that an upstream has got, except those for the probe of a connection. */
    static List<String> got(ScriptedUpstream upstream) {
        List<String> got = new ArrayList<>();
        for (ScriptedUpstream.Received request : upstream.received()) {
            if (!request.head().startsWith("GET /fair/probe ")) {
                String head = request.head()
                        .lines()
                        .filter(line ->
                                !line.isEmpty() && !OF_THE_CLIENT.contains(line) && !OF_THE_GATEWAY.contains(line))
                        .map(line -> line.length() < LONG ? line : line.substring(0, 20) + "... " + line.length())
                        .collect(Collectors.joining("; "));
                got.add("-> " + head.replace("127.0.0.1:" + upstream.port(), "UPSTREAM")
                        + (request.body().isEmpty()
                                ? ""
                                : " | " + request.body().replace("\r\n", "\\r\\n")));
            }
        }
        return got;
    }

    static String unescaped(String line) {
        return ESCAPES.matcher(line).replaceAll(escape -> Matcher.quoteReplacement(character(escape)));
    }

    private static String character(MatchResult escape) {
        if (escape.group(1) != null) {
            return Character.toString(Integer.parseInt(escape.group(1), 16));
        } else if (escape.group(3) != null) {
            return escape.group(4).repeat(Integer.parseInt(escape.group(3)));
        }
        return switch (escape.group(2)) {
            case "r" -> "\r";
            case "n" -> "\n";
            case "t" -> "\t";
            default -> "\\";
        };
    }
}
