package io.fairgate.spring.fairshare;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.OwnLoop;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.NothingLeft;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;

/** A filter of the route answers the client while the upstream is at work, as a circuit breaker with a fallback does. */
class AnsweredByFilterTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final AtomicInteger begun = new AtomicInteger();
    private final Sinks.Empty<Void> workEnds = Sinks.empty();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> {
                begun.incrementAndGet();
                return response.sendString(workEnds.asMono().thenReturn("of the upstream"));
            })
            .bindNow();

    private final ConfigurableApplicationContext gateway = start();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class GatewayWithFallback {

        private final Sinks.Empty<Void> givesUp = Sinks.empty();

        @Bean
        Sinks.Empty<Void> givesUp() {
            return givesUp;
        }

        @Bean
        RouteLocator routes(
                RouteLocatorBuilder builder,
                FairShareGatewayFilterFactory fairShare,
                @Value("${upstream}") String upstream) {
            GatewayFilter fallback = (exchange, chain) -> chain.filter(exchange)
                    .takeUntilOther(givesUp.asMono())
                    .then(Mono.defer(() -> exchange.getResponse().setComplete()));
            return builder.routes()
                    .route(
                            "fallback",
                            route -> route.path("/fallback")
                                    .filters(filters -> filters.filter(fairShare.apply(c -> c.setPool("orders")))
                                            .filter(fallback))
                                    .uri(upstream))
                    .route(
                            "fair",
                            route -> route.path("/fair")
                                    .filters(filters -> filters.filter(fairShare.apply(c -> c.setPool("orders"))))
                                    .uri(upstream))
                    .build();
        }
    }

    private ConfigurableApplicationContext start() {
        SpringApplication application = new SpringApplication(GatewayWithFallback.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        return application.run(
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.free.weight=1",
                "--fairgate.policy.tenants.members.acme.plan=free",
                "--fairgate.policy.pools.orders.permits=1",
                "--fairgate.policy.pools.orders.max-wait=60s",
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--upstream=http://127.0.0.1:" + upstream.port());
    }

    @AfterEach
    void stop() {
        workEnds.tryEmitEmpty();
        gateway.close();
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private CompletableFuture<HttpResponse<String>> ask(String path) {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant-Id", "acme")
                .build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString());
    }

    private PoolStatus orders() {
        return NothingLeft.statusOf(
                Objects.requireNonNull(gateway.getBean(PermitPools.class).get("orders")));
    }

    @Test
    void the_permit_is_held_until_the_upstream_has_answered() {
        CompletableFuture<HttpResponse<String>> first = ask("/fallback");
        Awaitility.await().untilAsserted(() -> assertThat(begun).hasValue(1));
        gateway.getBean(GatewayWithFallback.class).givesUp().tryEmitEmpty();
        assertThat(first.join().statusCode()).isEqualTo(200);
        assertThat(first.join().body()).isEmpty();

        CompletableFuture<HttpResponse<String>> next = ask("/fair");
        Awaitility.await()
                .untilAsserted(() -> assertThat(orders().waiting() + begun.get())
                        .as("waits, or is at the upstream")
                        .isEqualTo(2));
        assertThat(orders().inFlight()).isOne();
        assertThat(begun).as("requests that the upstream works on").hasValue(1);

        workEnds.tryEmitEmpty();
        assertThat(next.join().body()).isEqualTo("of the upstream");
        assertThat(begun).hasValue(2);
        Awaitility.await().untilAsserted(() -> assertThat(orders().inFlight()).isZero());
    }
}
