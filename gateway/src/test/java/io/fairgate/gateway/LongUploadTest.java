package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An upload may take longer than the upstream may for its answer: on routes with permits and without, that are forwarded directly or
 * pass Spring Cloud Gateway's chain of filters.
 */
@Tag("long")
class LongUploadTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private void start(String forwarding, String option) {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4, on-client-left: close"),
                "--fairgate.forwarding=" + forwarding,
                option);
    }

    private List<RawClient> upload(String head) throws Exception {
        List<RawClient> clients = new ArrayList<>();
        for (String route : List.of("fair", "plain")) {
            clients.add(new RawClient(both.gateway().port())
                    .send("POST /" + route + "/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + head));
        }
        return clients;
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "filter-chain"})
    void it_is_served_while_its_parts_come(String forwarding) throws Exception {
        start(forwarding, "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=9s");
        List<RawClient> clients = upload("Transfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 4; i++) {
            for (RawClient client : clients) {
                client.send("7D0\r\n" + "x".repeat(2_000) + "\r\n");
            }
            Thread.sleep(3_000);
        }
        for (RawClient client : clients) {
            client.send("0\r\n\r\n");
            assertThat(Objects.requireNonNull(client.answer()).status()).isEqualTo(200);
            client.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "filter-chain"})
    void without_permits_it_must_come_at_the_least_rate_at_all_times(String forwarding) throws Exception {
        start(forwarding, "--fairgate.clients.body-pause=0s");
        List<RawClient> clients = upload("Content-Length: 100\r\n\r\n");
        for (int i = 0; i < 14; i++) {
            for (RawClient client : clients) {
                client.trySend("x");
            }
            Thread.sleep(1_000);
        }
        List<Integer> statuses = new ArrayList<>();
        for (RawClient client : clients) {
            client.trySend("x".repeat(86));
            RawAnswer answer = client.answer();
            statuses.add(answer == null ? 0 : answer.status());
            client.close();
        }
        assertThat(statuses).containsExactly(200, 408);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "filter-chain"})
    void an_upstream_that_does_not_answer_it_is_timed_out(String forwarding) throws Exception {
        start(forwarding, "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=2s");
        for (String route : List.of("fair", "plain")) {
            both.upstream().on("/" + route + "/x", ScriptedUpstream.Exchange::awaitClose);
        }
        for (RawClient client : upload("Content-Length: 5\r\n\r\nhello")) {
            RawAnswer answer = Objects.requireNonNull(client.answer());
            assertThat(answer.status()).isEqualTo(504);
            assertThat(answer.body()).contains("upstream-timeout");
            client.close();
        }
    }

    @Test
    void a_request_that_is_sent_again_has_its_time_out_again() throws Exception {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4, on-client-left: close") + """
                  - id: retried
                    uri: http://UPSTREAM
                    predicates: [ "Path=/retried/**" ]
                    metadata: { fair-share: false }
                    filters: [ { name: Retry, args: { retries: 1, methods: POST, statuses: SERVICE_UNAVAILABLE } } ]
                """.indent(0),
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=2s");
        AtomicInteger attempts = new AtomicInteger();
        both.upstream().on("/retried/x", exchange -> {
            if (attempts.incrementAndGet() == 1) {
                exchange.sendLast("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
            } else {
                exchange.awaitClose();
            }
        });
        try (RawClient client = new RawClient(both.gateway().port())) {
            RawAnswer answer =
                    Objects.requireNonNull(client.post("/retried/x", "a", 5).answer());
            assertThat(answer.status()).isEqualTo(504);
        }
        assertThat(attempts).hasValueGreaterThan(1);
    }
}
