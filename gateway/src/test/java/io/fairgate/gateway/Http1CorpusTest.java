package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of HTTP/1.1, as bytes: what a client gets, whether its connection is kept, and what the upstream gets. */
class Http1CorpusTest {

    private static final String PROBE =
            "GET /fair/probe HTTP/1.1\r\nHost: probe\r\nX-Tenant-Id: b\r\nConnection: close\r\n\r\n";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"));
        both.upstream()
                .on("/fair/probe", exchange -> exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nprobe"));
    }

    static Stream<Corpus.Case> cases() {
        return Corpus.read("http1-requests.txt");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void a_request_has_its_outcome(Corpus.Case request) throws IOException {
        List<String> outcome = new ArrayList<>();
        boolean isKept = false;
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send(request.text());
            // The client sends on when it has read an answer; a later answer without a request would be seen behind it.
            for (RawAnswer answer = client.answer(); answer != null && !isKept; answer = client.answer()) {
                isKept = answer.body().equals("probe");
                if (!isKept) {
                    outcome.add("<- " + Corpus.shown(answer.status(), answer.body()));
                    client.trySend(PROBE);
                }
            }
        }
        outcome.add("<- " + (isKept ? "kept" : "closed"));
        outcome.addAll(Corpus.got(both.upstream()));
        assertThat(String.join("\n", outcome)).isIn(request.outcomes());
    }
}
