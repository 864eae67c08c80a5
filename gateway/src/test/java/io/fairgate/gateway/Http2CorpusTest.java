package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests of HTTP/2 (h2c with prior knowledge), field by field: what a client gets, whether its connection is kept, and what
 * the upstream gets. The file of cases says how they are written.
 */
class Http2CorpusTest {

    private static final Map<String, String> USUAL =
            Map.of(":method", "GET", ":scheme", "http", ":authority", "test", ":path", "/fair/x");

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"));
    }

    static Stream<Corpus.Case> cases() {
        return Corpus.read("http2-requests.txt");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void a_request_has_its_outcome(Corpus.Case request) throws IOException {
        List<String> outcome = new ArrayList<>();
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            RawHttp2Client.Stream stream = send(client, request.sent());
            outcome.add("<- " + end(stream));
            outcome.add("<- " + (isKept(client) ? "kept" : "closed"));
        }
        outcome.addAll(Corpus.got(both.upstream()));
        assertThat(String.join("\n", outcome)).isIn(request.outcomes());
    }

    private static RawHttp2Client.Stream send(RawHttp2Client client, List<String> lines) throws IOException {
        List<String> body = lines.stream()
                .filter(line -> line.startsWith("| ") || line.startsWith("+ "))
                .toList();
        RawHttp2Client.Stream stream = client.open(head(lines), body.isEmpty());
        for (int i = 0; i < body.size(); i++) {
            boolean isLast = i == body.size() - 1;
            String part = Corpus.unescaped(body.get(i).substring(2));
            if (body.get(i).startsWith("+ ")) {
                client.headers(add(new DefaultHttp2Headers(false), part), isLast);
            } else {
                client.data(part, isLast);
            }
        }
        return stream;
    }

    private static Http2Headers head(List<String> lines) {
        Http2Headers head = new DefaultHttp2Headers(false);
        USUAL.forEach((name, value) -> {
            if (lines.stream().noneMatch(line -> line.startsWith(name + ": ") || line.equals("- " + name))) {
                head.add(name, value);
            }
        });
        lines.stream()
                .filter(line -> line.contains(": ") && !line.startsWith("+ ") && !line.startsWith("| "))
                .forEach(line -> add(head, Corpus.unescaped(line)));
        return head;
    }

    private static Http2Headers add(Http2Headers headers, String line) {
        int colon = line.indexOf(": ");
        return headers.add(line.substring(0, colon), line.substring(colon + 2));
    }

    private static String end(RawHttp2Client.Stream stream) throws IOException {
        @Nullable Http2Error reset = stream.reset();
        String answer = stream.hasAnswer() ? Corpus.shown(Integer.parseInt(stream.status()), stream.text()) : "";
        return answer.isEmpty() && reset == null
                ? "nothing"
                : (answer + (reset == null ? "" : " reset: " + reset)).trim();
    }

    private static boolean isKept(RawHttp2Client client) {
        try {
            return client.get("/fair/probe", "b").body().equals("ok");
        } catch (IOException closed) {
            return false;
        }
    }
}
