package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.ApiKeyHash;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Through a real nginx and a real HAProxy with the settings of docs/proxies.md. Both must be installed, and setpriv. */
@Tag("fronts")
@ExtendWith(OutputCaptureExtension.class)
class FrontProxiesTest {

    private static final String KEY = "key-for-tests-of-fronts";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    private static final Fronts fronts = new Fronts();

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        both.start(
                """
                tenants:
                  trusted-proxies: [127.0.0.2]
                  identify:
                    - { header: X-Tenant-Id }
                    - api-key: { header: X-Api-Key }
                  plans: { plan: {} }
                  members: { a: { plan: plan, api-keys: [ "%s" ] }, b: { plan: plan } }
                """.formatted(ApiKeyHash.of(KEY).text()) + GatewayAndUpstream.FAIR_ROUTE,
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate=info");
        fronts.start(folder, both.gateway().port());
    }

    @AfterAll
    static void stop() {
        fronts.close();
    }

    private static String get(String path, String... fields) {
        return "GET " + path + " HTTP/1.1\r\nHost: api.test\r\nX-Api-Key: " + KEY + "\r\n"
                + String.join(
                        "", Arrays.stream(fields).map(field -> field + "\r\n").toList()) + "\r\n";
    }

    private static void assertUpstreamKnows(String scheme, String port) {
        assertThat(both.got("X-Forwarded-For")).containsExactly("X-Forwarded-For: 127.0.0.1, 127.0.0.2");
        assertThat(both.got("X-Forwarded-Proto")).containsExactly("X-Forwarded-Proto: " + scheme);
        assertThat(both.got("X-Forwarded-Host")).containsExactly("X-Forwarded-Host: api.test");
        assertThat(both.got("X-Forwarded-Port")).containsExactly("X-Forwarded-Port: " + port);
        assertThat(both.got("Forwarded"))
                .containsExactly("Forwarded: for=127.0.0.1;proto=" + scheme + ";host=\"api.test\", for=127.0.0.2");
        assertThat(both.got("X-Tenant-Id")).containsExactly("X-Tenant-Id: a");
        assertThat(both.got()).doesNotContain("evil", "198.51.100.7");
    }

    @ParameterizedTest
    @EnumSource
    void what_a_client_says_of_itself_is_not_believed(FrontProxy.Kind kind, CapturedOutput output) throws Exception {
        String lies = get(
                "/fair/lies",
                "X-Forwarded-For: 198.51.100.7",
                "X-Forwarded-For: 198.51.100.7, 127.0.0.2",
                "X-Forwarded-Proto: evil",
                "X-Forwarded-Host: evil.test",
                "X-Forwarded-Port: 198",
                "X-Forwarded-Prefix: /evil",
                "X-Real-IP: 198.51.100.7",
                "Forwarded: for=198.51.100.7;host=evil.test",
                "X-Tenant-Id: b");
        try (RawClient client = fronts.client(kind, true)) {
            assertThat(client.send(lies).readUntil("ok")).startsWith("HTTP/1.1 200");
        }
        assertUpstreamKnows("https", "443");
        both.upstream().forgetRequests();
        try (RawClient client = fronts.client(kind, false)) {
            assertThat(client.send(lies).readUntil("ok")).startsWith("HTTP/1.1 200");
        }
        assertUpstreamKnows("http", "80");
        RunningGateway.eventually(() -> assertThat(output.getOut().lines())
                .filteredOn(line -> line.contains("/fair/lies"))
                .hasSize(2)
                .allMatch(line -> line.contains("\"client\":\"127.0.0.1\",\"peer\":\"127.0.0.2\"")));
    }

    @ParameterizedTest
    @EnumSource
    void a_client_cannot_name_its_tenant(FrontProxy.Kind kind) throws Exception {
        try (RawClient client = fronts.client(kind, true)) {
            client.send("GET /fair/x HTTP/1.1\r\nHost: api.test\r\nX-Tenant-Id: b\r\nConnection: close\r\n\r\n");
            assertThat(client.readAll()).startsWith("HTTP/1.1 401");
        }
        assertThat(both.upstream().requests()).isEmpty();
    }

    /** An upgrade to HTTP/2 would be a tunnel past the proxy. */
    @ParameterizedTest
    @EnumSource
    void no_connection_is_upgraded_to_http2(FrontProxy.Kind kind) throws Exception {
        for (boolean isSecure : new boolean[] {true, false}) {
            try (RawClient client = fronts.client(kind, isSecure)) {
                client.send(get(
                        "/fair/x",
                        "Connection: Upgrade, HTTP2-Settings, close",
                        "Upgrade: h2c",
                        "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"));
                assertThat(client.readAll()).startsWith("HTTP/1.1 200");
            }
        }
    }

    /** Over HTTP/1.1 without TLS it asks for an upgrade to HTTP/2, also with a body; HAProxy has HTTP/2 with TLS. */
    @ParameterizedTest
    @EnumSource
    void java_s_client_is_served(FrontProxy.Kind kind) throws Exception {
        HttpClient client =
                HttpClient.newBuilder().sslContext(Fronts.trusting()).build();
        for (String url : new String[] {
            "https://localhost:" + fronts.of(kind).tlsPort(),
            "http://localhost:" + fronts.of(kind).plainPort()
        }) {
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(URI.create(url + "/fair/post"))
                            .header("X-Api-Key", KEY)
                            .POST(BodyPublishers.ofString("x".repeat(100_000)))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.version())
                    .isEqualTo(
                            url.startsWith("https") && kind == FrontProxy.Kind.HAPROXY
                                    ? HttpClient.Version.HTTP_2
                                    : HttpClient.Version.HTTP_1_1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_websocket_is_passed_through(FrontProxy.Kind kind) throws Exception {
        both.upstream().onHead("/fair/ws", exchange -> {
            exchange.send(WebSocketTunnelTest.ACCEPT + "x".repeat(100_000));
            exchange.send("got " + (char) exchange.in().read());
            exchange.socket().close();
        });
        try (RawClient client = fronts.client(kind, true)) {
            client.send(get("/fair/ws", WebSocketTunnelTest.FIELDS.strip().split("\r\n")));
            assertThat(client.readUntil("xxx")).startsWith("HTTP/1.1 101");
            assertThat(client.send("?").readAll()).endsWith("xxxgot ?");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_stream_is_not_held_back_and_ends_when_the_client_leaves(FrontProxy.Kind kind) throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        both.upstream().on("/fair/stream", exchange -> {
            exchange.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n5\r\nfirst\r\n");
            exchange.await(left);
            exchange.awaitClose();
        });
        try (RawClient client = fronts.client(kind, true)) {
            client.send(get("/fair/stream")).readUntil("first");
        }
        left.countDown();
        both.gateway().awaitInFlight("pool", 0);
    }
}
