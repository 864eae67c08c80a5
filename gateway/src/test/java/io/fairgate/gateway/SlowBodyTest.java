package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that stop in the middle of a body do not keep their permits. Bodies may take longer than the upstream for its answer. */
class SlowBodyTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 2, max-wait: 60s"),
                "--fairgate.clients.body-pause=500ms",
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=60s");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 10\r\n\r\nhello",
                "Content-Length: 10\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhe",
                "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
            })
    void a_body_that_stops_is_408_and_gives_its_permit_back(String rest) throws IOException {
        double before = slowBodies();
        List<RawClient> slow = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            slow.add(new RawClient(both.gateway().port())
                    .send("POST /fair/slow HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + rest));
        }
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "b").status()).isEqualTo(200);
        for (RawClient client : slow) {
            RawAnswer answer = Objects.requireNonNull(client.answer());
            assertThat(answer.status()).isEqualTo(408);
            assertThat(answer.head()).containsIgnoringCase("connection: close");
            assertThat(answer.body()).contains("\"reason\":\"slow-body\"");
            assertThat(client.answer()).isNull();
            client.close();
        }
        both.gateway().awaitInFlight("pool", 0);
        // They had the permits.
        assertThat(slowBodies() - before).isEqualTo(2);
    }

    private static double slowBodies() {
        return MetricsPage.of(both.gateway())
                .value("fairgate_failures_total", "pool", "pool", "tenant", "a", "reason", "slow-body");
    }

    @Test
    void over_http2_only_the_stream_ends() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            RawHttp2Client.Stream slow = client.open(
                    RawHttp2Client.request("POST", "/fair/slow", "a").add("content-length", "10"), false);
            client.data("hello", false);
            assertThat(slow.status()).isEqualTo("408");
            assertThat(client.get("/fair/x", "b").body()).isEqualTo("ok");
        }
    }
}
