package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationPredicate;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * A refusal is the same whether the gateway answers it before Spring's handling of requests or behind it; and where the
 * user's beans may see it, they see it.
 */
class RefusalsTest {

    /** What the user's beans have seen. */
    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();

    private static final String UNKNOWN = ofTenant("unlisted", "GET /x");

    /** Without a body. The quota of most tenants is one request a day, so each test has tenants of its own. */
    private static String request(String start, String... fields) {
        return start + " HTTP/1.1\r\nHost: client.test\r\n" + String.join("\r\n", fields) + "\r\n\r\n";
    }

    private static String ofTenant(String tenant, String start) {
        return request(start, "X-Tenant-Id: " + tenant);
    }

    private static GatewayPair pair(Class<?>... beans) {
        SEEN.clear();
        GatewayPair pair = new GatewayPair(new RecordingUpstream(), beans)
                .set("fairgate.policy.tenants.plans.small.quotas[0].name", "daily")
                .set("fairgate.policy.tenants.plans.small.quotas[0].limit", 1)
                .set("fairgate.policy.tenants.plans.small.quotas[0].per", "day")
                .set("fairgate.policy.tenants.plans.narrow.max-in-flight", 1)
                .set("fairgate.policy.tenants.members.narrow.plan", "narrow");
        for (String tenant : List.of("get", "head", "post", "pipelined", "h2", "seen", "handled")) {
            pair.set("fairgate.policy.tenants.members." + tenant + ".plan", "small");
        }
        return pair.routeTo("http://127.0.0.1:1", "lost", List.of("Path=/lost/**"), List.of("FairShare=pool"))
                .route("wide", "Path=/wide/**", "FairShare; pool=pool; permits=2")
                .route("plain", "Path=/**");
    }

    /** Why refusals of both gateways go through Spring's handling; null if they do not. */
    private static @Nullable String whyNot(GatewayPair gateways) {
        List<@Nullable String> reasons = Stream.of(Way.values())
                .map(way -> ((EarlyHandler) gateways.context(way).getBean(HttpHandler.class)).whyNot())
                .toList();
        assertThat(reasons.get(0)).isEqualTo(reasons.get(1));
        return reasons.get(0);
    }

    @Nested
    class WithoutBeans {

        @RegisterExtension
        static final GatewayPair gateways = pair();

        @ParameterizedTest
        @CsvSource({
            "GET /x, X-Other: 1, 401",
            "GET /x, X-Tenant-Id: unlisted, 403",
            "'GET /x', 'X-Tenant-Id: a\r\nX-Tenant-Id: get', 400",
            "GET /x/%2e%2e/y, X-Tenant-Id: a, 400",
            "GET /wide/x, X-Tenant-Id: narrow, 429",
        })
        void a_refusal_is_the_same_and_the_connection_stays(String start, String fields, String status)
                throws Exception {
            assertThat(whyNot(gateways)).isNull();
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(request(start, fields)).response();
                client.probe();
            });
            assertThat(observed.upstream()).isEmpty();
            assertThat(observed.client()).startsWith("HTTP/1.1 " + status).contains("application/problem+json");
        }

        @Test
        void what_an_exceeded_quota_says_is_the_same() throws Exception {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(ofTenant("get", "GET /x")).response();
                client.send(ofTenant("get", "GET /x")).response();
                client.probe();
            });
            assertThat(observed.client()).contains("HTTP/1.1 200", "HTTP/1.1 429", "RateLimit: \"daily\";r=0");
        }

        @Test
        void the_refusal_of_a_head_request_has_no_body() throws Exception {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(ofTenant("head", "GET /x")).response();
                client.send(ofTenant("head", "HEAD /x")).response(true);
                client.probe();
            });
            assertThat(observed.client()).contains("HTTP/1.1 429", "the connection is kept");
        }

        @Test
        void the_body_of_a_refused_request_is_not_taken_for_the_next_request() throws Exception {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(ofTenant("post", "GET /x")).response();
                client.send(request("POST /x", "X-Tenant-Id: post", "Content-Length: 5") + "hello")
                        .response();
                client.probe();
            });
            assertThat(observed.client()).contains("HTTP/1.1 429", "the connection is kept");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "GET /x HTTP/1.0\r\nX-Tenant-Id: unlisted\r\n\r\n",
                    "GET /x HTTP/1.0\r\nX-Tenant-Id: unlisted\r\nConnection: keep-alive\r\n\r\n",
                    "GET /x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: unlisted\r\nConnection: close\r\n\r\n",
                    "POST /x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: unlisted\r\nExpect: 100-continue\r\n"
                            + "Content-Length: 5\r\n\r\n",
                    "POST /x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: unlisted\r\nContent-Length: 100000\r\n\r\nhello",
                })
        void what_a_client_may_send_beside_is_treated_as_before(String request) throws Exception {
            Observation observed = gateways.observe(
                    RecordingUpstream.OK, client -> client.send(request).response());
            assertThat(observed.client()).contains(" 403 ");
        }

        @Test
        void requests_that_come_at_once_are_answered_in_their_order() throws Exception {
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(UNKNOWN + ofTenant("pipelined", "GET /x") + ofTenant("pipelined", "GET /x") + UNKNOWN);
                for (int i = 0; i < 4; i++) {
                    client.response();
                }
            });
            assertThat(observed.client().replaceAll("(?s)HTTP/1.1 (\\d+).*?(?=HTTP|$)", "$1 "))
                    .isEqualToIgnoringNewLines("403 200 429 403 ");
        }

        @Test
        void a_refusal_over_http2_is_the_same() {
            for (Way way : Way.values()) {
                assertThat(refusalOverHttp2(way)).startsWith("429\n").contains("ratelimit: \"daily\";r=0");
            }
        }

        private static String refusalOverHttp2(Way way) {
            Map<String, String> tenant = Map.of("x-tenant-id", "h2");
            assertThat(Http2Exchange.with(gateways.port(way), "GET", "/x", "", tenant))
                    .startsWith("200\n");
            return Http2Exchange.with(gateways.port(way), "GET", "/x", "", tenant);
        }
    }

    @Nested
    class WithAWebFilter {

        @Configuration(proxyBeanMethods = false)
        static class Filter {
            @Bean
            WebFilter seeing() {
                return (exchange, chain) -> chain.filter(exchange)
                        .doOnError(failure -> SEEN.add(failure.getClass().getSimpleName()))
                        .doFinally(end -> exchange.getResponse().getHeaders());
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(Filter.class);

        @Test
        void it_sees_the_refusal() throws Exception {
            assertThat(whyNot(gateways)).contains(Filter.class.getName());
            SEEN.clear();
            gateways.observe(
                    RecordingUpstream.OK, client -> client.send(UNKNOWN).response());
            assertThat(SEEN).containsExactly("IdentityRefusedException", "IdentityRefusedException");
        }

        @ParameterizedTest
        @CsvSource({
            "CONNECT /x, Host: test, 405",
            "TRACE /x, Host: test, 501",
            "GET x, Host: test, 400",
            "GET /x, X-Other: 1, 400",
            "POST /x, 'Host: test\r\nTransfer-Encoding: gzip, chunked', 501",
        })
        void it_does_not_see_what_http_does_not_allow(String start, String fields, String status) throws Exception {
            SEEN.clear();
            String request = start + " HTTP/1.1\r\n" + fields + "\r\nX-Tenant-Id: a\r\n\r\n";
            Observation observed = gateways.observe(
                    RecordingUpstream.OK, client -> client.send(request).response());
            assertThat(observed.client()).startsWith("HTTP/1.1 " + status);
            assertThat(SEEN).isEmpty();
        }
    }

    @Nested
    class WithAHandlerOfErrors {

        @Configuration(proxyBeanMethods = false)
        static class Handler {
            @Bean
            @Order(-10)
            WebExceptionHandler answering() {
                return (exchange, failure) -> {
                    exchange.getResponse().setStatusCode(HttpStatus.GONE);
                    return exchange.getResponse().setComplete();
                };
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(Handler.class);

        @Test
        void it_answers_refusals() throws Exception {
            assertThat(whyNot(gateways)).contains(Handler.class.getName());
            Observation observed = gateways.observe(
                    RecordingUpstream.OK, client -> client.send(UNKNOWN).response());
            assertThat(observed.client()).startsWith("HTTP/1.1 410");
        }

        @Test
        void it_answers_failures_and_the_fields_of_the_admission_are_there() throws Exception {
            Observation observed = gateways.observe(
                    RecordingUpstream.OK,
                    client -> client.send(ofTenant("handled", "GET /lost/x")).response());
            assertThat(observed.client()).startsWith("HTTP/1.1 410").contains("Server-Timing: ", "RateLimit: ");
        }
    }

    /** It sees what Spring fails with, and its answer stays; a 404 of a filter is not that of a request without a route. */
    @Nested
    class WithoutARoute {

        @Configuration(proxyBeanMethods = false)
        static class Beans {
            @Bean
            @Order(-10)
            WebExceptionHandler seeing() {
                return (exchange, failure) -> {
                    SEEN.add(failure.getClass().getSimpleName());
                    return Mono.error(failure);
                };
            }

            @Bean
            GlobalFilter gone() {
                return (exchange, chain) ->
                        exchange.getRequest().getPath().value().equals("/x/gone")
                                ? Mono.error(new ResponseStatusException(HttpStatus.NOT_FOUND))
                                : chain.filter(exchange);
            }
        }

        @RegisterExtension
        static final GatewayPair gateways =
                new GatewayPair(new RecordingUpstream(), Beans.class).route("some", "Path=/x/**");

        @Test
        void a_handler_of_errors_sees_springs_own() throws Exception {
            SEEN.clear();
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(ofTenant("a", "GET /nowhere")).response();
                client.probe();
            });
            assertThat(observed.client()).startsWith("HTTP/1.1 404").contains("\"reason\":\"no-route\"");
            assertThat(SEEN).isNotEmpty().containsOnly("NoResourceFoundException");
        }

        @Test
        void a_filter_of_a_route_answers_404_itself() throws Exception {
            Observation observed = gateways.observe(
                    RecordingUpstream.OK,
                    client -> client.send(ofTenant("a", "GET /x/gone")).response());
            assertThat(observed.client()).startsWith("HTTP/1.1 404").doesNotContain("no-route", "problem+json");
        }
    }

    /** Spring's handler is inside of another one there, and no request is handled before it. */
    @Nested
    class WithABasePath {

        @RegisterExtension
        static final GatewayPair gateways = pair().set("spring.webflux.base-path", "/base");

        @ParameterizedTest
        @CsvSource({"CONNECT /base/x, 405", "TRACE /base/x, 501", "GET /base/x#y, 400"})
        void what_http_does_not_allow_is_refused_too(String start, String status) throws Exception {
            Observation observed = gateways.observe(
                    RecordingUpstream.OK,
                    client -> client.send(ofTenant("a", start)).response());
            assertThat(observed.client()).startsWith("HTTP/1.1 " + status);
            assertThat(observed.upstream()).isEmpty();
        }
    }

    /** It observes one request in two; asked once, its answer would decide for all. */
    @Nested
    class WithAPredicateOfObservations {

        @Configuration(proxyBeanMethods = false)
        static class EveryOther {
            private final AtomicInteger asked = new AtomicInteger();

            @Bean
            MeterRegistry registry() {
                return new SimpleMeterRegistry();
            }

            @Bean
            ObservationPredicate everyOther() {
                return (name, context) -> asked.incrementAndGet() % 2 == 0;
            }
        }

        @RegisterExtension
        static final GatewayPair gateways =
                pair(EveryOther.class).set("management.observations.enable.http.server.requests", true);

        @Test
        void spring_decides_for_each_request() {
            assertThat(whyNot(gateways)).isEqualTo("requests are observed");
        }
    }

    @Nested
    class WhenSomethingElseFails {

        @Configuration(proxyBeanMethods = false)
        static class Failing {
            @Bean
            HttpClientCustomizer failing() {
                return client -> client.doOnRequest((request, connection) -> {
                    if (request.uri().equals("/fail")) {
                        throw new IllegalStateException("for the test");
                    }
                });
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(Failing.class);

        @ParameterizedTest
        @ValueSource(strings = {"GET", "DELETE"})
        void springs_handlers_answer_it_as_before(String method) throws Exception {
            gateways.assertForwardedDirectly("plain", true);
            assertThat(whyNot(gateways)).isNull();
            Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
                client.send(RecordingClient.request(method, "/fail")).response();
                client.probe();
            });
            assertThat(observed.client()).contains("HTTP/1.1 500", "\"path\":\"/fail\"", "Server-Timing: ");
        }
    }
}
