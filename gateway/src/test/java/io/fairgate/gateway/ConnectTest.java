package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Methods and request targets that a gateway must treat differently. */
class ConnectTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        // Only one upstream connection: the next request gets anything that a request leaves on it.
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 1") + """
                          - id: all
                            uri: http://UPSTREAM
                            predicates: [ "Path=/**" ]
                            filters: [ "FairShare=pool" ]
                        """,
                "--spring.cloud.gateway.server.webflux.httpclient.pool.type=fixed",
                "--spring.cloud.gateway.server.webflux.httpclient.pool.max-connections=1");
    }

    private static void assertOthersAreServed() {
        assertThat(both.ask("/fair/other", "X-Tenant-Id", "b").body()).isEqualTo("ok");
        assertThat(both.upstream().requests()).containsExactly("GET /fair/other HTTP/1.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/fair/x", "/nowhere", "upstream.example:443", "*", "http://other.example/fair/x"})
    void connect_is_405_and_ends_the_connection(String target) throws IOException {
        try (RawClient client = new RawClient(both.gateway().port())) {
            assertThat(client.send("CONNECT " + target + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n")
                            .readAll())
                    .startsWith("HTTP/1.1 405 Method Not Allowed\r\n")
                    .contains(
                            "application/problem+json",
                            "\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n",
                            "\"reason\":\"connect\"",
                            "\"decision\":\"")
                    .containsIgnoringCase("\r\nConnection: close\r\n");
        }
        assertOthersAreServed();
    }

    @Test
    void data_after_connect_is_not_read_as_a_request() throws IOException {
        try (RawClient client = new RawClient(both.gateway().port())) {
            String answer = client.send("CONNECT /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n"
                            + "GET /fair/smuggled HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: b\r\n\r\n")
                    .readAll();
            assertThat(answer).startsWith("HTTP/1.1 405 ").containsOnlyOnce("HTTP/1.1");
        }
        assertOthersAreServed();
    }

    static Stream<Http2Headers> tunnels() {
        Http2Headers plain = new DefaultHttp2Headers(false)
                .method("CONNECT")
                .authority("upstream.example:443")
                .add("x-tenant-id", "a");
        return Stream.of(
                plain,
                RawHttp2Client.request("CONNECT", "/fair/x", "a"),
                RawHttp2Client.request("CONNECT", "/fair/x", "a").add(":protocol", "websocket"));
    }

    @ParameterizedTest
    @MethodSource("tunnels")
    void connect_over_http2_is_405_and_keeps_the_connection(Http2Headers request) throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            RawHttp2Client.Stream tunnel = client.open(request);
            assertThat(tunnel.status()).isEqualTo("405");
            assertThat(tunnel.headers().get("allow")).isNotBlank();
            assertThat(tunnel.headers().contains("connection")).isFalse();
            assertThat(tunnel.body()).contains("\"reason\":\"connect\"");
            assertThat(client.get("/fair/other", "b").body()).isEqualTo("ok");
        }
        assertThat(both.upstream().requests()).containsExactly("GET /fair/other HTTP/1.1");
    }

    @Test
    void a_refused_connect_is_counted() throws IOException {
        List<String> tags = List.of("enforced", "true", "pool", "none", "reason", "connect", "tenant", "_other");
        String[] sample = tags.toArray(String[]::new);
        double before = MetricsPage.of(both.gateway()).value("fairgate_refusals_total", sample);
        connect_is_405_and_ends_the_connection("/fair/x");
        assertThat(MetricsPage.of(both.gateway()).value("fairgate_refusals_total", sample))
                .isEqualTo(before + 1);
    }

    @ParameterizedTest
    @CsvSource({
        "OPTIONS, *, /*",
        "GET, http://other.example/fair/x?a=b, /fair/x?a=b",
        "GET, https://other.example:99/fair/x, /fair/x",
        "GET, ws://other.example/fair/x, /fair/x",
    })
    void every_form_of_target_is_answered_by_the_routes_own_upstream(String method, String target, String path)
            throws IOException {
        try (RawClient client = new RawClient(both.gateway().port())) {
            assertThat(client.send(method + " " + target + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n")
                            .readUntil("ok"))
                    .startsWith("HTTP/1.1 200 OK\r\n");
        }
        assertThat(both.upstream().requests()).containsExactly(method + " " + path + " HTTP/1.1");
    }
}
