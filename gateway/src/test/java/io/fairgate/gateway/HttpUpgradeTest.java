package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No port upgrades a connection to HTTP/2: through a front proxy the upgraded connection would be a tunnel, in which a client
 * could name any tenant. HTTP/2 from the first byte stays.
 */
class HttpUpgradeTest {

    private static final String TO_HTTP2 =
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.upstream().on("/fair/count", exchange -> {
            String length = Long.toString(exchange.contentLength());
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: " + length.length() + "\r\n\r\n" + length);
        });
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4"),
                "--fairgate.leases.enabled=true",
                "--fairgate.leases.port=0");
    }

    private static String ask(int port, String request) throws IOException {
        try (RawClient client = new RawClient(port)) {
            return client.send(request).readUntil("\r\n\r\n");
        }
    }

    @Test
    void a_request_that_asks_for_http2_is_served_over_http1() throws IOException {
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send("GET /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + TO_HTTP2 + "\r\n");
            assertThat(client.readUntil("ok")).startsWith("HTTP/1.1 200 OK\r\n").doesNotContain("101", "h2c");
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + TO_HTTP2
                    + "Content-Length: 4\r\n\r\nbody");
            assertThat(client.readUntil("ok")).startsWith("HTTP/1.1 200 OK\r\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TO_HTTP2, "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"})
    void an_upgrade_is_not_forwarded_to_the_upstream(String upgrade) throws IOException {
        ask(both.gateway().port(), "GET /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + upgrade + "\r\n");
        assertThat(both.got()).doesNotContainIgnoringCase("upgrade").doesNotContainIgnoringCase("settings");
    }

    @Test
    void an_unrequested_101_of_an_upstream_is_502_and_ends_its_connection() throws IOException {
        both.upstream().on("/fair/101", exchange -> {
            exchange.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
            exchange.awaitClose();
        });
        assertThat(ask(
                        both.gateway().port(),
                        "GET /fair/101 HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + TO_HTTP2 + "\r\n"))
                .startsWith("HTTP/1.1 502 ");
        assertThat(both.ask("/fair/other", "X-Tenant-Id", "b").body()).isEqualTo("ok");
    }

    @Test
    void the_management_port_upgrades_nothing() throws IOException {
        assertThat(ask(
                        both.gateway().managementPort(),
                        "GET /actuator/health HTTP/1.1\r\nHost: test\r\n" + TO_HTTP2 + "\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void the_lease_port_upgrades_nothing() throws IOException {
        int port = both.gateway()
                .context()
                .getBean(io.fairgate.gateway.lease.LeaseApiServer.class)
                .port();
        assertThat(ask(port, "GET /v1/pools HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + TO_HTTP2 + "\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void http2_from_the_first_byte_is_served() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            assertThat(client.get("/fair/1", "a").body()).isEqualTo("ok");
            assertThat(client.get("/fair/2", "b").body()).isEqualTo("ok");
        }
        assertThat(both.upstream().requests()).containsExactly("GET /fair/1 HTTP/1.1", "GET /fair/2 HTTP/1.1");
    }

    @Test
    void a_body_with_an_upgrade_to_anything_else_is_served() throws IOException {
        assertThat(ask(
                        both.gateway().port(),
                        "POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nConnection: Upgrade\r\n"
                                + "Upgrade: other/1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\n");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1_000, 1_000_000})
    void javas_own_client_is_served_with_its_defaults(int bytes) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        URI uri = URI.create(both.gateway().url("/fair/count"));
        HttpRequest post = HttpRequest.newBuilder(uri)
                .header("X-Tenant-Id", "a")
                .POST(BodyPublishers.ofByteArray(new byte[bytes]))
                .build();
        assertThat(client.send(post, BodyHandlers.ofString()).body()).isEqualTo("" + bytes);
        HttpRequest get = HttpRequest.newBuilder(uri).header("X-Tenant-Id", "a").build();
        assertThat(client.send(get, BodyHandlers.ofString()).body()).isEqualTo("0");
    }
}
