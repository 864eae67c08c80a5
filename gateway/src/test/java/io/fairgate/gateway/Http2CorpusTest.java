package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
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
            RawHttp2Client.Stream stream = send(client, Http2Request.of(request));
            outcome.add("<- " + end(stream));
            outcome.add("<- " + (isKept(client) ? "kept" : "closed"));
        }
        outcome.addAll(Corpus.got(both.upstream()));
        assertThat(String.join("\n", outcome)).isIn(request.outcomes());
    }

    private static RawHttp2Client.Stream send(RawHttp2Client client, Http2Request request) throws IOException {
        List<Http2Request.Part> rest = request.rest();
        RawHttp2Client.Stream stream = client.open(request.head(), rest.isEmpty());
        for (int i = 0; i < rest.size(); i++) {
            boolean isLast = i == rest.size() - 1;
            if (rest.get(i).isTrailer()) {
                client.headers(rest.get(i).trailers(), isLast);
            } else {
                client.data(rest.get(i).text(), isLast);
            }
        }
        return stream;
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
