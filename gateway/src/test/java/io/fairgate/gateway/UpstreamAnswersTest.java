package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Answers of an upstream, as bytes: what clients of HTTP/1.1 and of HTTP/2 get, and whether the connection is used again. The next
 * request on it, of another tenant, always gets its own answer.
 */
class UpstreamAnswersTest {

    private static final String CLOSES = "! closes\r\n";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    private volatile @Nullable Socket answered;
    private volatile @Nullable Socket probed;

    /** One connection to the upstream, so that the next request takes the same one if it can. */
    @BeforeAll
    static void start() {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4, on-client-left: close"),
                "--spring.cloud.gateway.server.webflux.httpclient.pool.type=fixed",
                "--spring.cloud.gateway.server.webflux.httpclient.pool.max-connections=1",
                "--fairgate.upstream-body-idle=2s",
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=2s");
    }

    static Stream<Corpus.Case> cases() {
        return Corpus.read("upstream-answers.txt");
    }

    private void script(Corpus.Case answer) {
        String text = answer.text();
        both.upstream()
                .on("/fair/x", exchange -> {
                    answered = exchange.socket();
                    exchange.sendLast(text.startsWith(CLOSES) ? text.substring(CLOSES.length()) : text);
                    if (text.startsWith(CLOSES)) {
                        exchange.socket().close();
                    }
                })
                .on("/fair/probe", exchange -> {
                    probed = exchange.socket();
                    exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nprobe");
                });
    }

    @ParameterizedTest
    @MethodSource("cases")
    void an_answer_has_its_outcome_over_http1(Corpus.Case answer) throws IOException {
        script(answer);
        assertThat(outcome(http1())).isEqualTo(String.join("\n", answer.outcome()));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void an_answer_has_its_outcome_over_http2(Corpus.Case answer) throws IOException {
        script(answer);
        assertThat(outcome(http2())).isEqualTo(String.join("\n", answer.outcome()));
    }

    private String outcome(String got) {
        for (int i = 0; i < 2; i++) {
            Answer probe = both.ask("/fair/probe", "X-Tenant-Id", "b");
            assertThat(List.of(probe.status(), probe.body())).isEqualTo(List.of(200, "probe"));
        }
        return "<- " + got + "\n-> " + (answered == probed ? "kept" : "closed");
    }

    private static String http1() throws IOException {
        try (RawClient client = new RawClient(both.gateway().port())) {
            RawAnswer answer = client.get("/fair/x", "a").answer();
            return answer == null
                    ? "nothing"
                    : shown(answer.status(), answer.body().replaceFirst(" \\+ .*", ""), answer.isComplete());
        }
    }

    private static String http2() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            RawHttp2Client.Stream stream = client.get("/fair/x", "a");
            int status = Integer.parseInt(stream.status());
            boolean isWhole = stream.reset() == null;
            return shown(status, stream.text(), isWhole);
        }
    }

    /** Without trailers. How much comes of a body that is broken off depends on when its parts are read. */
    private static String shown(int status, String body, boolean isWhole) {
        return isWhole ? Corpus.shown(status, body) : status + ", broken off";
    }
}
