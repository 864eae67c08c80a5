package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static io.fairgate.spring.forward.RecordingClient.requestWithBody;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.forward.GatewayPair.Observation;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.NettyRoutingFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractNameValueGatewayFilterFactory;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.cloud.gateway.filter.headers.TrailerHeadersFilter;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;

/** Beans with which users extend Spring Cloud Gateway: they run as without Fairgate. */
class UserBeansTest {

    private static final Script WITH_TRAILERS = RecordingUpstream.answer(
            "HTTP/1.1 200 OK",
            "X-Upstream: 1",
            "Transfer-Encoding: chunked",
            "",
            "5\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n");

    /** What beans have seen, in this order. */
    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();

    /**
     * Sends two requests, and returns what the beans of each gateway have seen, which are so many things. They have seen
     * half of that of the first request to each gateway before.
     */
    private static List<String> seenByBeans(GatewayPair gateways, int count) throws Exception {
        awaitSeen(count);
        Observation chain = observe(gateways, Way.FILTER_CHAIN);
        List<String> byChain = awaitSeen(count);
        Observation direct = observe(gateways, Way.DIRECT);
        assertThat(direct.text()).isEqualTo(chain.text());
        assertThat(awaitSeen(count)).isEqualTo(byChain);
        return byChain;
    }

    /** Some of it is seen when the client has its response already. */
    private static List<String> awaitSeen(int count) {
        Patience.until("what beans see", () -> SEEN.size() >= count);
        List<String> seen = List.copyOf(SEEN);
        SEEN.clear();
        return seen;
    }

    private static Observation observe(GatewayPair gateways, Way way) throws Exception {
        return gateways.observe(way, WITH_TRAILERS, client -> {
            client.send(request("GET", "/x?y", "X-Client: 1")).response();
            client.send(requestWithBody("POST", "/x?y", "hello", "X-Client: 1")).response();
        });
    }

    private static GatewayPair pair(Class<?> beans) {
        SEEN.clear();
        return new GatewayPair(new RecordingUpstream(), beans);
    }

    private static void see(Object what) {
        SEEN.add(String.valueOf(what));
    }

    @Nested
    class GlobalFilters {

        /** Outside of the filter that writes the response. */
        static final class First implements GlobalFilter, Ordered {
            @Override
            public int getOrder() {
                return -1000;
            }

            @Override
            public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
                see("first");
                return chain.filter(exchange.mutate()
                                .request(request -> request.header("X-First", "1"))
                                .build())
                        .doOnSuccess(done ->
                                see("first, written " + exchange.getResponse().isCommitted()));
            }
        }

        /** Between the filter that finds the address of the upstream and the one that sends the request. */
        static final class Last implements GlobalFilter, Ordered {
            @Override
            public int getOrder() {
                return 20_000;
            }

            @Override
            public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
                seeAttributes(exchange);
                return chain.filter(exchange).doOnSuccess(done -> {
                    seeAttributes(exchange);
                    exchange.getResponse().getHeaders().set("X-Last", "1");
                });
            }

            private static void seeAttributes(ServerWebExchange exchange) {
                Route route = exchange.getRequiredAttribute(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR);
                URI url = exchange.getRequiredAttribute(ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR);
                HttpClientResponse response = exchange.getAttribute(ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR);
                see(route.getId() + ", " + url.getPath() + ", " + url.getQuery());
                see("routed " + ServerWebExchangeUtils.isAlreadyRouted(exchange));
                see("response " + (response == null ? null : response.status()));
            }
        }

        @Import({First.class, Last.class})
        static class Filters {}

        @RegisterExtension
        static final GatewayPair gateways = pair(Filters.class).route("plain", "Path=/**");

        @Test
        void global_filters_run_in_their_order_and_find_the_attributes_of_the_exchange() throws Exception {
            gateways.assertForwardedDirectly("plain", false);
            assertThat(seenByBeans(gateways, 16).subList(0, 8))
                    .containsExactly(
                            "first",
                            "plain, /x, y",
                            "routed false",
                            "response null",
                            "plain, /x, y",
                            "routed true",
                            "response 200 OK",
                            "first, written true");
            Observation observed = observe(gateways, Way.DIRECT);
            assertThat(observed.upstream()).contains("X-First: 1");
            assertThat(observed.client()).contains("X-Last: 1");
        }
    }

    @Nested
    class FiltersOfARoute {

        static class StampGatewayFilterFactory extends AbstractNameValueGatewayFilterFactory {
            @Override
            public GatewayFilter apply(NameValueConfig config) {
                return (exchange, chain) -> {
                    see("stamp " + config.getName());
                    return chain.filter(exchange).doOnSuccess(done -> {
                        see(ServerWebExchangeUtils.isAlreadyRouted(exchange));
                        exchange.getResponse().getHeaders().set(config.getName(), config.getValue());
                    });
                };
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(StampGatewayFilterFactory.class)
                .route("plain", "Path=/plain")
                .route("stamped", "Path=/**", "Stamp=X-Stamp,2", "AddRequestHeader=X-Red,1");

        @Test
        void a_filter_runs_on_the_routes_that_name_it() throws Exception {
            gateways.assertForwardedDirectly("plain", true);
            gateways.assertForwardedDirectly("stamped", false);
            assertThat(seenByBeans(gateways, 4)).containsExactly("stamp X-Stamp", "true", "stamp X-Stamp", "true");
            Observation observed = observe(gateways, Way.DIRECT);
            assertThat(observed.upstream()).contains("X-Red: 1");
            assertThat(observed.client()).contains("X-Stamp: 2");
        }
    }

    @Nested
    class FiltersOfHeaders {

        /** @param type requests or responses */
        record Marking(Type type) implements HttpHeadersFilter, TrailerHeadersFilter {
            @Override
            public boolean supports(Type type) {
                return type == this.type;
            }

            @Override
            public HttpHeaders filter(HttpHeaders input, ServerWebExchange exchange) {
                see(type);
                HttpHeaders marked = new HttpHeaders();
                marked.addAll(input);
                marked.remove("X-Client");
                marked.set("X-Marked", "1");
                return marked;
            }

            @Override
            public HttpHeaders trailers(HttpHeaders input, ServerWebExchange exchange) {
                HttpHeaders marked = new HttpHeaders();
                marked.addAll(input);
                marked.set("X-Marked-Trailer", type.name());
                return marked;
            }
        }

        @Configuration(proxyBeanMethods = false)
        static class HeaderFilters {
            @Bean
            HttpHeadersFilter ofRequests() {
                return new Marking(HttpHeadersFilter.Type.REQUEST);
            }

            @Bean
            HttpHeadersFilter ofResponses() {
                return new Marking(HttpHeadersFilter.Type.RESPONSE);
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(HeaderFilters.class).route("plain", "Path=/**");

        @Test
        void filters_of_headers_change_requests_responses_and_trailers() throws Exception {
            assertThat(seenByBeans(gateways, 4)).containsExactly("REQUEST", "RESPONSE", "REQUEST", "RESPONSE");
            Observation observed = observe(gateways, Way.DIRECT);
            assertThat(observed.upstream()).contains("X-Marked: 1").doesNotContain("X-Client");
            assertThat(observed.client()).contains("X-Marked: 1", "X-Trailer: t", "X-Marked-Trailer: RESPONSE");
        }
    }

    @Nested
    class CustomizersOfTheHttpClient {

        @Configuration(proxyBeanMethods = false)
        static class Customizer {
            @Bean
            HttpClientCustomizer marks() {
                return client -> client.headers(headers -> headers.set("X-Customized", "1"))
                        .doOnRequest((request, connection) -> see(request.method() + " " + request.uri()))
                        .doOnResponse((response, connection) -> see(response.status()));
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(Customizer.class).route("plain", "Path=/**");

        @Test
        void the_customized_client_sends_the_requests() throws Exception {
            assertThat(seenByBeans(gateways, 4)).containsExactly("GET /x?y", "200 OK", "POST /x?y", "200 OK");
            assertThat(observe(gateways, Way.DIRECT).upstream()).contains("X-Customized: 1");
        }
    }

    @Nested
    class ARoutingFilterInThePlaceOfTheBuiltInOne {

        @Configuration(proxyBeanMethods = false)
        static class RoutingFilter {

            @Bean
            NettyRoutingFilter marking(
                    HttpClient client,
                    ObjectProvider<List<HttpHeadersFilter>> filters,
                    HttpClientProperties properties) {
                return new NettyRoutingFilter(client, filters, properties) {
                    @Override
                    protected HttpClient getHttpClient(Route route, ServerWebExchange exchange) {
                        see("client for " + route.getId());
                        return super.getHttpClient(route, exchange).headers(headers -> headers.set("X-Own", "1"));
                    }
                };
            }

            @Bean
            NettyWriteResponseFilter writing(ObjectProvider<List<HttpHeadersFilter>> filters) {
                return new NettyWriteResponseFilter(List.of(MediaType.TEXT_EVENT_STREAM), filters);
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(RoutingFilter.class)
                .route("plain", "Path=/**")
                .setWebflux("global-filter.netty-routing.enabled", false);

        @Test
        void the_own_filter_sends_the_requests() throws Exception {
            gateways.assertForwardedDirectly("plain", false);
            assertThat(seenByBeans(gateways, 2)).containsExactly("client for plain", "client for plain");
            assertThat(observe(gateways, Way.DIRECT).upstream()).contains("X-Own: 1");
        }
    }

    @Nested
    class WebFilters {

        @Configuration(proxyBeanMethods = false)
        static class DecoratingFilter {
            @Bean
            WebFilter decorating() {
                return (exchange, chain) -> {
                    exchange.getResponse()
                            .beforeCommit(() -> Mono.fromRunnable(
                                    () -> exchange.getResponse().getHeaders().set("X-Before-Commit", "1")));
                    return chain.filter(exchange.mutate()
                            .request(request ->
                                    request.header("X-Web-Filter", "1").path("/mutated"))
                            .response(new Decorated(exchange))
                            .build());
                };
            }
        }

        private static final class Decorated extends ServerHttpResponseDecorator {
            Decorated(ServerWebExchange exchange) {
                super(exchange.getResponse());
            }

            @Override
            public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
                return super.writeWith(
                        Flux.from(body).doOnNext(buffer -> see(buffer.toString(StandardCharsets.UTF_8))));
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(DecoratingFilter.class).route("plain", "Path=/**");

        @Test
        void a_decorated_request_is_forwarded_and_its_decorated_response_written() throws Exception {
            assertThat(seenByBeans(gateways, 2)).containsExactly("hello", "hello");
            Observation observed = observe(gateways, Way.DIRECT);
            assertThat(observed.upstream()).contains("GET /mutated?y HTTP/1.1", "X-Web-Filter: 1");
            assertThat(observed.client()).contains("X-Before-Commit: 1");
        }
    }

    @Nested
    class Meters {

        @Configuration(proxyBeanMethods = false)
        static class Registry {
            @Bean
            MeterRegistry registry() {
                return new SimpleMeterRegistry();
            }
        }

        @RegisterExtension
        static final GatewayPair gateways = pair(Registry.class)
                .route("plain", "Path=/**")
                .setWebflux("metrics.enabled", true)
                .setWebflux("observability.enabled", true)
                .set("management.observations.enable.http.server.requests", true);

        @Test
        void meters_of_requests_count_as_in_the_filter_chain() throws Exception {
            seenByBeans(gateways, 0);
            for (String meter :
                    List.of("spring.cloud.gateway.requests", "http.client.requests", "http.server.requests")) {
                Patience.until(meter, () -> count(Way.FILTER_CHAIN, meter) > 0);
                long chain = count(Way.FILTER_CHAIN, meter);
                Patience.until("as many as in the chain", () -> count(Way.DIRECT, meter) == chain);
            }
        }

        private static long count(Way way, String meter) {
            return gateways.context(way).getBean(MeterRegistry.class).find(meter).timers().stream()
                    .mapToLong(Timer::count)
                    .sum();
        }
    }
}
