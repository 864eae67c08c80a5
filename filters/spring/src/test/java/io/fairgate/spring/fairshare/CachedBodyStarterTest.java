package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.CACHED_REQUEST_BODY_ATTR;

import io.fairgate.spring.OwnLoop;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.PooledDataBuffer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/** Bodies that are cached, by Spring Cloud Gateway for a retry or by a filter of the application, in a gateway with the starter. */
class CachedBodyStarterTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.send(request.receive().retain()))
            .bindNow();

    private final ConfigurableApplicationContext gateway = start();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class GatewayThatCaches {

        @Bean
        RouteLocator routes(
                RouteLocatorBuilder builder,
                FairShareGatewayFilterFactory fairShare,
                @Value("${upstream}") String upstream) {
            return builder.routes()
                    .route(
                            "retry",
                            route -> route.path("/retry", "/cached-and-retry")
                                    .filters(filters -> filters.retry(1))
                                    .uri(upstream))
                    .route(
                            "fair",
                            route -> route.path("/cached-and-fair")
                                    .filters(filters -> filters.filter(fairShare.apply(c -> c.setPool("orders"))))
                                    .uri(upstream))
                    .build();
        }

        /** Inside the filter that moves bodies, outside the one that waits for a permit. */
        @Bean
        GlobalFilter caches() {
            return new InOrder(
                    -1000,
                    (exchange, chain) -> exchange.getRequest().getPath().value().startsWith("/cached")
                            ? ServerWebExchangeUtils.cacheRequestBody(
                                    exchange,
                                    request -> chain.filter(
                                            exchange.mutate().request(request).build()))
                            : chain.filter(exchange));
        }

        @Bean
        GlobalFilter tells() {
            return new InOrder(0, (exchange, chain) -> {
                Object cached = exchange.getAttribute(CACHED_REQUEST_BODY_ATTR);
                String where = cached == null ? "nowhere" : cached instanceof PooledDataBuffer ? "netty" : "heap";
                exchange.getResponse().getHeaders().set("X-Cached", where);
                return chain.filter(exchange);
            });
        }
    }

    private record InOrder(int order, GlobalFilter filter) implements GlobalFilter, Ordered {

        @Override
        public int getOrder() {
            return order;
        }

        @Override
        public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
            return filter.filter(exchange, chain);
        }
    }

    private ConfigurableApplicationContext start() {
        SpringApplication application = new SpringApplication(GatewayThatCaches.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        return application.run(
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.free.weight=1",
                "--fairgate.policy.tenants.members.acme.plan=free",
                "--fairgate.policy.pools.orders.permits=1",
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--upstream=http://127.0.0.1:" + upstream.port());
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/retry", "/cached-and-retry", "/cached-and-fair"})
    void a_cached_body_is_on_the_heap_and_is_sent_whole(String path) throws Exception {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant-Id", "acme")
                .POST(BodyPublishers.ofString("the body"))
                .build();
        HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
        assertThat(response.body()).isEqualTo("the body");
        assertThat(response.headers().firstValue("X-Cached")).hasValue("heap");
    }
}
