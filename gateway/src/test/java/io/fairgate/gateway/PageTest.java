package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The operator's page as HTTP shows it; {@link PageInBrowserTest} looks at it in a browser. */
class PageTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private void start(String... options) {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"), options);
    }

    private HttpResponse<InputStream> stream() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(both.gateway().managementUrl("/page/stream")))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    }

    /** The next event. */
    private static JsonNode event(BufferedReader events) throws IOException {
        String line = events.readLine();
        while (line != null && !line.startsWith("data:")) {
            line = events.readLine();
        }
        assertThat(line).as("an event").isNotNull();
        return JSON.readTree(String.valueOf(line).substring("data:".length()));
    }

    private static BufferedReader lines(HttpResponse<InputStream> stream) {
        return new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({
        "/, text/html;charset=UTF-8",
        "/page/page.css, text/css;charset=UTF-8",
        "/page/page.js, text/javascript;charset=UTF-8",
        "/page/icon.svg, image/svg+xml"
    })
    void its_files_allow_the_browser_to_load_nothing_else(String path, String type) {
        start();
        Answer answer = Answer.to(both.gateway().managementUrl(path));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("Content-Type")).isEqualTo(type);
        assertThat(answer.field("Content-Security-Policy"))
                .startsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
                .doesNotContain("unsafe");
        assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
    }

    @Test
    void it_is_on_the_management_port_only_and_only_for_the_names_of_that() throws Exception {
        start();
        assertThat(both.ask("/").status()).isEqualTo(404);
        assertThat(both.ask("/page/stream").status()).isEqualTo(404);
        for (String path : List.of("/", "/page/stream")) {
            try (RawClient client = new RawClient(both.gateway().managementPort())) {
                String answer = client.send(
                                "GET " + path + " HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                        .readAll();
                assertThat(answer).startsWith("HTTP/1.1 421");
            }
        }
    }

    /** It shows what the endpoint pools shows, so it is not served without that. */
    @ParameterizedTest
    @ValueSource(strings = {"--fairgate.management.page=false", "--management.endpoints.web.exposure.include=health"})
    void it_is_not_served_when_it_or_the_endpoint_of_the_pools_is_switched_off(String option) {
        start(option);
        for (String path : List.of("/", "/page/stream")) {
            assertThat(Answer.to(both.gateway().managementUrl(path)).status()).isEqualTo(404);
        }
    }

    @Test
    void it_finds_the_endpoints_below_another_path() {
        start("--management.server.base-path=/m", "--management.endpoints.web.base-path=/ops");
        Answer page = Answer.to(both.gateway().managementUrl("/m/"));
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.body()).contains("data-actuator=\"ops\"").doesNotContain("VERSION", "ACTUATOR");
        assertThat(Answer.to(both.gateway().managementUrl("/m/ops/pools")).status())
                .isEqualTo(200);
    }

    @Test
    void a_refusal_shows_at_once_and_the_tenant_that_is_refused_has_a_row() throws Exception {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 1, max-waiting: 0"));
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        CompletableFuture<Answer> held = Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "a");
        both.gateway().awaitInFlight("pool", 1);
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "b").status()).isEqualTo(503);
        try (BufferedReader events = lines(stream())) {
            JsonNode pool = event(events).path("pools").path(0);
            assertThat(pool.path("latest").path("refused").toString()).isEqualTo("{\"pool-queue-full\":1}");
            assertThat(pool.path("tenants").path(0).path("tenant").asString()).isEqualTo("b");
            assertThat(pool.path("holders").toString()).isEqualTo("[{\"tenant\":\"a\",\"permits\":1}]");
        }
        end.countDown();
        assertThat(held.join().status()).isEqualTo(200);
    }

    @Test
    void the_stream_shows_each_second_what_the_pools_do() throws Exception {
        start();
        for (String tenant : List.of("a", "a", "b")) {
            assertThat(both.ask("/fair/x", "X-Tenant-Id", tenant).status()).isEqualTo(200);
        }
        HttpResponse<InputStream> stream = stream();
        assertThat(stream.headers().firstValue("Content-Type")).contains("text/event-stream;charset=UTF-8");
        try (BufferedReader events = lines(stream)) {
            JsonNode first = event(events);
            JsonNode pool = first.path("pools").path(0);
            assertThat(pool.path("pool").asString()).isEqualTo("pool");
            assertThat(pool.path("permits").asInt()).isEqualTo(4);
            assertThat(pool.path("latest").path("requests").asInt()).isEqualTo(3);
            assertThat(pool.path("tenants").size()).isEqualTo(2);
            JsonNode second = event(events);
            assertThat(second.path("at").asString())
                    .isGreaterThan(first.path("at").asString());
            assertThat(second.path("pools").path(0).path("inFlightBefore").size())
                    .isPositive()
                    .isGreaterThan(pool.path("inFlightBefore").size());
        }
    }

    @Test
    void holds_and_failures_of_the_upstream_are_those_of_the_latest_minute() throws Exception {
        start();
        both.upstream().on("/fair/lost", exchange -> exchange.reset());
        assertThat(both.ask("/fair/lost", "X-Tenant-Id", "a").status()).isEqualTo(502);
        try (BufferedReader events = lines(stream())) {
            JsonNode none = upstream(events, node -> node.isObject());
            assertThat(both.ask("/fair/lost", "X-Tenant-Id", "a").status()).isEqualTo(502);
            assertThat(both.ask("/fair/lost", "X-Tenant-Id", "b").status()).isEqualTo(502);
            int before = none.path("failed").path("upstream-lost").asInt();
            JsonNode failing = upstream(
                    events, node -> node.path("failed").path("upstream-lost").asInt() == before + 2);
            assertThat(failing.path("meanHoldSeconds").isNumber()).isTrue();
            assertThat(failing.path("seconds").asInt()).isPositive();
        }
    }

    /** Of the first event in which it is so. */
    private static JsonNode upstream(BufferedReader events, Predicate<JsonNode> isSo) throws IOException {
        JsonNode upstream = event(events).path("pools").path(0).path("upstream");
        for (int i = 0; i < 20 && !isSo.test(upstream); i++) {
            upstream = event(events).path("pools").path(0).path("upstream");
        }
        assertThat(isSo.test(upstream)).as(upstream.toString()).isTrue();
        return upstream;
    }

    @Test
    void a_tenant_that_waits_is_shown_with_its_share() throws Exception {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 1, max-wait: 20s"));
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        CompletableFuture<Answer> held = Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "a");
        both.gateway().awaitInFlight("pool", 1);
        CompletableFuture<Answer> waiting = Answer.future(both.gateway().url("/fair/x"), "X-Tenant-Id", "b");
        both.gateway().awaitWaiting("pool", 1);
        try (BufferedReader events = lines(stream())) {
            JsonNode pool = event(events).path("pools").path(0);
            assertThat(pool.path("inFlight").asInt()).isOne();
            assertThat(pool.path("waiting").asInt()).isOne();
            JsonNode b = pool.path("tenants")
                    .valueStream()
                    .filter(tenant -> tenant.path("tenant").asString().equals("b"))
                    .findFirst()
                    .orElseThrow();
            assertThat(b.path("waiting").asInt()).isOne();
            assertThat(b.path("share").asDouble()).isEqualTo(0.5);
        }
        end.countDown();
        assertThat(held.join().status()).isEqualTo(200);
        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @Test
    void no_more_pages_are_served_than_it_allows() throws Exception {
        start();
        List<HttpResponse<InputStream>> open = new ArrayList<>();
        try {
            for (int i = 0; i < 50; i++) {
                open.add(stream());
                event(lines(open.get(i)));
            }
            try (InputStream refused = stream().body()) {
                assertThat(refused.readAllBytes()).isEmpty();
            }
            assertThat(stream().statusCode()).isEqualTo(503);
        } finally {
            for (HttpResponse<InputStream> one : open) {
                one.body().close();
            }
        }
        RunningGateway.eventually(() -> {
            HttpResponse<InputStream> again = stream();
            again.body().close();
            assertThat(again.statusCode()).isEqualTo(200);
        });
    }

    @Test
    void a_page_that_is_open_does_not_keep_the_gateway_from_stopping() throws Exception {
        start();
        try (BufferedReader events = lines(stream())) {
            event(events);
            both.gateway().close();
            // The web server would wait for a minute, and then break the stream off: that would be an exception here.
            String rest = events.readLine();
            while (rest != null) {
                rest = events.readLine();
            }
        }
    }

    /** With Redis out of reach, the gateway has no permits of the pool, and says so everywhere. */
    @Test
    void a_pool_without_its_backend_is_lost_and_not_free() throws Exception {
        start("--fairgate.backend=redis", "--spring.data.redis.url=redis://127.0.0.1:" + FrontProxy.freePort());
        try (BufferedReader events = lines(stream())) {
            assertThat(event(events).path("pools").path(0).path("isLost").asBoolean())
                    .isTrue();
        }
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/pools")).body())
                .contains("\"backendLost\":true")
                .doesNotContain("inFlight");
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/cluster")).body())
                .contains("\"inForce\":false", "\"failure\":\"");
    }

    @Test
    void a_gateway_that_is_not_ready_any_more_says_so() throws Exception {
        start();
        try (BufferedReader events = lines(stream())) {
            assertThat(event(events).path("isStopping").asBoolean()).isFalse();
            AvailabilityChangeEvent.publish(both.gateway().context(), ReadinessState.REFUSING_TRAFFIC);
            event(events); // It may have been made before.
            assertThat(event(events).path("isStopping").asBoolean()).isTrue();
        }
    }
}
