package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The metadata of a route, as the policy file writes them, reach Spring Cloud Gateway. */
class RouteMetadataTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private void start(String metadata, String... options) {
        gateway.start(
                TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s, on-client-left: close")
                        .replace("[ \"FairShare=pool\" ]", "[ \"FairShare=pool\" ]\n    metadata: " + metadata),
                options);
    }

    private String send(String head) throws IOException {
        try (RawClient client = new RawClient(gateway.port())) {
            return client.send(head + "Connection: close\r\n\r\n").readAll();
        }
    }

    @Test
    void a_response_timeout_has_a_unit() throws Exception {
        upstream.on("/fair/x", ScriptedUpstream.Exchange::awaitClose);
        start("{ response-timeout: 300ms }");
        assertThat(send("GET /fair/x HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: a\r\n"))
                .contains("504 Gateway Timeout", "\"reason\":\"upstream-timeout\"");
    }

    @Test
    void none_is_no_response_timeout() throws Exception {
        upstream.on("/fair/x", exchange -> {
            Thread.sleep(600);
            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
        start("{ response-timeout: none }", "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=100ms");
        assertThat(send("GET /fair/x HTTP/1.1\r\nHost: h\r\nX-Tenant-Id: a\r\n"))
                .contains("200 OK");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{ cors: { allowedOrigins: [ 'https://a.example' ], allowedHeaders: [ 1, X-Tenant-Id ], maxAge: 1h } }",
                "{ cors: { allowedOrigins: 'https://a.example', allowedHeaders: X-Tenant-Id, maxAge: 3600 } }",
            })
    void cors_settings_may_be_texts_and_numbers(String metadata) throws Exception {
        start(metadata);
        String preflight = "OPTIONS /fair/x HTTP/1.1\r\nHost: h\r\nAccess-Control-Request-Method: GET\r\n"
                + "Access-Control-Request-Headers: X-Tenant-Id\r\nOrigin: ";
        assertThat(send(preflight + "https://a.example\r\n"))
                .contains(
                        "200 OK",
                        "Access-Control-Allow-Origin: https://a.example",
                        "Access-Control-Allow-Headers: X-Tenant-Id",
                        "Access-Control-Max-Age: 3600");
        assertThat(send(preflight + "https://evil.example\r\n")).contains("403 Forbidden");
    }
}
