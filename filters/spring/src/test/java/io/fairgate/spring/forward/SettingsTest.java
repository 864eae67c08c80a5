package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cloud.gateway.filter.headers.RemoveHopByHopHeadersFilter;

/** Settings of Spring Cloud Gateway that change how requests are forwarded. */
class SettingsTest {

    /** Spring's binding of the setting changes this constant of the whole process. */
    private static final Set<String> HOP_BY_HOP = Set.copyOf(RemoveHopByHopHeadersFilter.HEADERS_REMOVED_ON_REQUEST);

    @AfterAll
    static void restore() {
        RemoveHopByHopHeadersFilter.HEADERS_REMOVED_ON_REQUEST.clear();
        RemoveHopByHopHeadersFilter.HEADERS_REMOVED_ON_REQUEST.addAll(HOP_BY_HOP);
    }

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .setWebflux("trusted-proxies", "127\\..*|10\\..*")
            .setWebflux("filter.remove-hop-by-hop.headers", "connection,transfer-encoding,x-hop")
            .setWebflux("httpclient.compression", true)
            .setWebflux("globalcors.cors-configurations.[/**].allowedOrigins", "http://a.test")
            .setWebflux("globalcors.cors-configurations.[/**].allowedMethods", "GET,PUT")
            .set("fairgate.policy.tenants.identify[1].api-key.header", "X-Api-Key")
            .set("fairgate.policy.tenants.plans.limited.quotas[0].name", "daily")
            .set("fairgate.policy.tenants.plans.limited.quotas[0].limit", 1)
            .set("fairgate.policy.tenants.plans.limited.quotas[0].per", "day")
            .set("fairgate.policy.tenants.members.b.plan", "limited")
            .route("prefixed", "Path=/prefix/**", "StripPrefix=1")
            .route("plain", "Path=/**");

    @ParameterizedTest
    @ValueSource(strings = {"/x?y", "/prefix/x"})
    void fields_about_proxies_are_added_to_those_of_trusted_proxies(String target) throws Exception {
        for (List<String> fields : List.of(
                List.<String>of(),
                List.of("X-Forwarded-For: 10.0.0.1, 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Port: 1"),
                List.of("X-Forwarded-Host: a.test", "X-Forwarded-Prefix: /a", "X-Forwarded-Host: b.test"),
                List.of("Forwarded: for=10.0.0.1;proto=https", "Forwarded: for=1.2.3.4"))) {
            Observation observed = gateways.observe(
                    RecordingUpstream.OK,
                    client -> client.send(request("GET", target, fields.toArray(String[]::new)))
                            .response());
            assertThat(observed.upstream()).contains("X-Forwarded-For: ", "X-Forwarded-Port: ", "Forwarded: ");
            if (target.startsWith("/prefix/")) {
                assertThat(observed.upstream()).contains("GET /x HTTP", "X-Forwarded-Prefix: ");
            }
        }
    }

    @Test
    void fields_of_one_hop_are_those_of_the_settings() throws Exception {
        Observation observed = gateways.observe(
                RecordingUpstream.answer("HTTP/1.1 200 OK", "X-Hop: 1", "Keep-Alive: a", "Content-Length: 2", "", "ok"),
                client -> client.send(request("GET", "/x", "X-Hop: 1", "TE: trailers", "Proxy-Authorization: a"))
                        .response());
        assertThat(observed.upstream()).contains("TE: trailers", "Proxy-Authorization: a");
        assertThat(observed.client()).contains("Keep-Alive: a");
        assertThat(observed.text()).doesNotContain("X-Hop");
    }

    @Test
    void a_compressed_response_is_decompressed() throws Exception {
        byte[] body = compressed("hello");
        Script script = request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + body.length + "\r\n\r\n");
            request.wire().send(body);
        };
        Observation observed = gateways.observe(script, client -> {
            client.send(request("GET", "/x")).response();
            client.probe();
        });
        assertThat(observed.upstream()).contains("gzip");
        assertThat(observed.client()).contains("hello");
    }

    private static byte[] compressed(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OPTIONS|Origin: http://a.test|Access-Control-Request-Method: PUT",
                "OPTIONS|Origin: http://b.test|Access-Control-Request-Method: PUT",
                "GET|Origin: http://a.test",
                "GET|Origin: http://b.test"
            })
    void requests_from_other_origins(String request) throws Exception {
        List<String> parts = List.of(request.split("\\|"));
        String[] fields = parts.subList(1, parts.size()).toArray(String[]::new);
        Observation observed = gateways.observe(
                RecordingUpstream.OK,
                client -> client.send(request(parts.get(0), "/x", fields)).response());
        assertThat(observed.client()).contains(request.contains("a.test") ? "Access-Control-Allow-Origin" : "403");
    }

    @Test
    void quotas_add_their_fields_and_refuse() throws Exception {
        String request = request("GET", "/x").replace("X-Tenant-Id: a", "X-Tenant-Id: b");
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            client.send(request).response();
            client.send(request).head();
        });
        assertThat(observed.client()).contains("RateLimit: ", " 429 ");
    }
}
