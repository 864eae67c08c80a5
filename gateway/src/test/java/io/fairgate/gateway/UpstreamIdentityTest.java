package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

/** The identity headers that the upstream gets, and those that are removed in both directions. */
class UpstreamIdentityTest {

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.upstream()
                .on(
                        "/fair/x",
                        exchange -> exchange.send(
                                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Tenant-Id: b\r\nx_tenant_id: b\r\n"
                                        + "x-http2-stream-id: 3\r\nX-Fairgate-Pool: p\r\nX-Permit-Id: 1\r\nX-Fencing-Token: 7\r\n"
                                        + "X-Upstream: kept\r\n\r\nok"))
                .on("/ws", exchange -> exchange.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"));
        both.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                    - { header: X-Edge-Tenant, trusted-from: [127.0.0.0/8] }
                  unknown: plan
                  plans: { plan: {} }
                  members: { a: { plan: plan }, b: { plan: plan } }
                """ + GatewayAndUpstream.FAIR_ROUTE + """
                  - id: ws
                    uri: ws://UPSTREAM
                    predicates: [ "Path=/ws" ]
                """);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: close, X-Tenant-Id",
                "X_Tenant_Id: b",
                "x-tenant_id: b",
                "X.Tenant.Id: b",
                "X-Edge-Tenant: a",
                "X-HTTP2-Stream-Id: 3",
                "x_http2_scheme: https",
                "X-Fairgate-Tenant: b",
                "X-Permit-Id: 1",
                "X-Fencing-Token: 7",
                "x_fencing_token: 7"
            })
    void identity_headers_of_clients_are_removed_and_the_tenant_is_forwarded_once(String line) throws Exception {
        both.raw("/fair/x", "X-Tenant-Id: a", line);
        assertThat(ofOurs(both.got())).containsExactly("X-Tenant-Id: a");
    }

    @Test
    void headers_that_only_begin_with_our_names_are_forwarded() throws Exception {
        both.raw("/fair/x", "X-Tenant-Id: a", "X-Tenant-Ids: 1", "X-Http2: 2", "X-Fencing-Tokens: 3");
        assertThat(both.got()).contains("X-Tenant-Ids: 1", "X-Http2: 2", "X-Fencing-Tokens: 3");
    }

    @Test
    void an_unknown_id_is_forwarded_unchanged() throws Exception {
        both.raw("/fair/x", "X-Tenant-Id: somebody");
        assertThat(ofOurs(both.got())).containsExactly("X-Tenant-Id: somebody");
    }

    @Test
    void identity_headers_of_the_upstream_are_removed() throws Exception {
        String answer = both.raw("/fair/x", "X-Tenant-Id: a");
        assertThat(ofOurs(answer)).isEmpty();
        assertThat(answer).contains("X-Upstream: kept");
    }

    @Test
    void a_websocket_upgrade_names_the_tenant_once() throws Exception {
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send("GET /ws HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nx_tenant_id: b\r\nX-Permit-Id: 1\r\n"
                            + "Upgrade: websocket\r\nConnection: Upgrade, X-Tenant-Id\r\nSec-WebSocket-Version: 13\r\n"
                            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                    .readUntil("\r\n\r\n");
        }
        RunningGateway.eventually(() -> assertThat(both.upstream().heads()).hasSize(1));
        assertThat(ofOurs(both.got())).containsExactly("X-Tenant-Id: a");
    }

    @Test
    void over_http2_the_tenant_is_forwarded_once() {
        String answered = HttpClient.newConnection()
                .protocol(HttpProtocol.H2C)
                .headers(headers -> headers.add("x-tenant-id", "a").add("x_tenant_id", "b"))
                .get()
                .uri(both.gateway().url("/fair/x"))
                .responseSingle((response, body) ->
                        body.asString().thenReturn(response.responseHeaders().toString()))
                .switchIfEmpty(Mono.just("nothing"))
                .block();
        assertThat(ofOurs(both.got())).containsExactly("X-Tenant-Id: a");
        assertThat(answered).contains("x-upstream").doesNotContain("x-tenant-id", "x-fencing-token", "x-permit-id");
    }

    private static List<String> ofOurs(String head) {
        return Arrays.stream(head.split("\r\n"))
                .filter(line -> line.matches(
                        "(?i)x[-_.](tenant[-_.]id|edge-tenant|http2[-_].*|fairgate-.*|permit-.*|fencing[-_]token):.*"))
                .toList();
    }
}
