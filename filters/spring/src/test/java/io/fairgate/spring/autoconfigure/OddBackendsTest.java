package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolFactory;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.actuator.PoolsEndpoint;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.metrics.Meter;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddPool;
import io.fairgate.testkit.odd.OddQuotas;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoop;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;

/** A gateway whose pools and quotas are behind a network, which loses its connection. */
class OddBackendsTest {

    /** Does not offer an upgrade to HTTP/2, with which a server refuses a body. */
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Sinks.Empty<Void> end = Sinks.empty();

    /** Answers with the body of the request; a path that ends with "held" is answered at the end of the test. */
    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> request.uri().endsWith("/held")
                    ? response.sendString(end.asMono().thenReturn("held"))
                    : response.sendString(request.receive().aggregate().asString()))
            .bindNow();

    private @Nullable ConfigurableApplicationContext context;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class GatewayOnOddBackends {

        /** Whether each request was on the event loop of its connection when it was forwarded. */
        private static final List<Boolean> ON_LOOP = new CopyOnWriteArrayList<>();

        /** Whether each request that was refused was on its event loop when its answer began. */
        private static final List<Boolean> REFUSED_ON_LOOP = new CopyOnWriteArrayList<>();

        @Bean
        Network network() {
            return new Network(MonotonicScheduler.INSTANCE, Duration.ofMillis(2));
        }

        @Bean
        PoolFactory oddPools(Network network) {
            return (name, settings, shares, listener) -> new OddPool(
                    new EmbeddedPermitPool(name, settings, shares, MonotonicScheduler.INSTANCE, listener), network);
        }

        @Bean
        Quotas oddQuotas(Network network) {
            return new OddQuotas(new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system()), network);
        }

        @Bean
        @Order(-99)
        GlobalFilter afterTheCharge() {
            return (exchange, chain) -> {
                ON_LOOP.add(isOnLoop(exchange));
                return chain.filter(exchange);
            };
        }

        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter atTheAnswer() {
            return (exchange, chain) -> {
                exchange.getResponse().beforeCommit(() -> {
                    if (exchange.getResponse().getStatusCode() != HttpStatus.OK) {
                        REFUSED_ON_LOOP.add(isOnLoop(exchange));
                    }
                    return Mono.empty();
                });
                return chain.filter(exchange);
            };
        }

        private static boolean isOnLoop(ServerWebExchange exchange) {
            return ClientConnection.eventLoop(exchange) instanceof EventLoop loop && loop.inEventLoop();
        }
    }

    private ConfigurableApplicationContext start() {
        GatewayOnOddBackends.ON_LOOP.clear();
        GatewayOnOddBackends.REFUSED_ON_LOOP.clear();
        SpringApplication application = new SpringApplication(GatewayOnOddBackends.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        String route = "--spring.cloud.gateway.server.webflux.routes[";
        String to = "].uri=http://127.0.0.1:" + upstream.port();
        ConfigurableApplicationContext started = application.run(
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.metered.quotas[0].name=prepaid",
                "--fairgate.policy.tenants.plans.metered.quotas[0].limit=20",
                "--fairgate.policy.tenants.plans.metered.quotas[0].per=total",
                "--fairgate.policy.tenants.plans.free.weight=1",
                "--fairgate.policy.tenants.members.acme.plan=metered",
                "--fairgate.policy.tenants.members.globex.plan=free",
                "--fairgate.policy.pools.orders.permits=1",
                "--fairgate.policy.pools.orders.max-waiting=1",
                "--fairgate.policy.pools.orders.max-wait=20s",
                route + "0].id=fair",
                route + "0" + to,
                route + "0].predicates[0]=Path=/fair/**",
                route + "0].filters[0]=FairShare=orders",
                route + "1].id=plain",
                route + "1" + to,
                route + "1].predicates[0]=Path=/plain/**",
                "--server.address=127.0.0.1",
                "--server.port=0");
        context = started;
        return started;
    }

    @AfterEach
    void stop() {
        end.tryEmitEmpty();
        if (context != null) {
            context.close();
        }
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private CompletableFuture<HttpResponse<String>> ask(String path, String tenant) {
        String port = Objects.requireNonNull(context).getEnvironment().getProperty("local.server.port");
        return CLIENT.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .header("X-Tenant-Id", tenant)
                        .POST(BodyPublishers.ofString("body"))
                        .build(),
                BodyHandlers.ofString());
    }

    private PermitPool orders() {
        return Objects.requireNonNull(
                Objects.requireNonNull(context).getBean(PermitPools.class).get("orders"));
    }

    private void await(int inFlight, int waiting) {
        Awaitility.await()
                .untilAsserted(() -> assertThat(NothingLeft.statusOf(orders()))
                        .extracting("inFlight", "waiting")
                        .containsExactly(inFlight, waiting));
    }

    private static void assertLost(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        assertThat(answer.body())
                .contains("\"reason\":\"backend-lost\"", "temporary-reduced-capacity", "\"decision\":");
    }

    @Test
    void requests_are_served_one_after_the_other_on_their_event_loops_until_the_quota_is_used_up() {
        start();
        for (int i = 1; i <= 20; i++) {
            HttpResponse<String> answer = ask("/fair/x", "acme").join();
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("body");
            assertThat(answer.headers().firstValue("Server-Timing")).isPresent();
            assertThat(answer.headers().firstValue("RateLimit")).contains("\"prepaid\";r=" + (20 - i));
        }
        HttpResponse<String> refused = ask("/fair/x", "acme").join();
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.body()).contains("prepaid");
        assertThat(ask("/plain/x", "acme").join().statusCode())
                .as("without a pool")
                .isEqualTo(429);
        assertThat(GatewayOnOddBackends.REFUSED_ON_LOOP).hasSize(2).containsOnly(true);
        assertThat(ask("/fair/x", "globex").join().statusCode()).isEqualTo(200);
        assertThat(GatewayOnOddBackends.ON_LOOP).hasSize(21).containsOnly(true);
        await(0, 0);
    }

    @Test
    void a_request_waits_and_one_more_is_refused() {
        start();
        CompletableFuture<HttpResponse<String>> running = ask("/fair/held", "globex");
        await(1, 0);
        CompletableFuture<HttpResponse<String>> waiting = ask("/fair/x", "acme");
        await(1, 1);
        HttpResponse<String> refused = ask("/fair/x", "acme").join();
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("\"reason\":\"pool-queue-full\"");
        end.tryEmitEmpty();
        assertThat(running.join().body()).isEqualTo("held");
        assertThat(waiting.join().body()).isEqualTo("body");
        await(0, 0);
    }

    @Test
    void while_the_backends_are_lost_requests_are_refused_and_running_ones_go_on_and_afterwards_nothing_is_missing() {
        ConfigurableApplicationContext gateway = start();
        Network network = gateway.getBean(Network.class);
        PoolsEndpoint page = gateway.getBean(PoolsEndpoint.class);
        CompletableFuture<HttpResponse<String>> running = ask("/fair/held", "globex");
        await(1, 0);
        CompletableFuture<HttpResponse<String>> waiting = ask("/fair/x", "acme");
        await(1, 1);
        // A pool that takes long to answer, as on a busy machine, is shown as lost.
        Awaitility.await().untilAsserted(() -> assertThat(orders(page)).containsKey("inFlight"));

        network.lose();
        assertLost(waiting.join());
        assertLost(ask("/fair/x", "globex").join());
        assertLost(ask("/plain/x", "acme").join());
        assertThat(ask("/plain/x", "globex").join().statusCode())
                .as("needs neither a permit nor a quota")
                .isEqualTo(200);
        assertThat(orders(page)).containsEntry("backendLost", true).doesNotContainKey("inFlight");
        assertThat(gateway.getBean(MeterRegistry.class)
                        .get(Meter.REFUSALS.id())
                        .tag("reason", "backend-lost")
                        .counters())
                .hasSize(2);
        assertThat(running).isNotDone();
        end.tryEmitEmpty();
        assertThat(running.join().body()).isEqualTo("held");

        network.regain();
        await(0, 0);
        HttpResponse<String> served = ask("/fair/x", "acme").join();
        assertThat(served.statusCode()).isEqualTo(200);
        assertThat(served.headers().firstValue("RateLimit"))
                .as("the refused requests were not charged")
                .contains("\"prepaid\";r=19");
        await(0, 0);
    }

    private static Map<String, Object> orders(PoolsEndpoint page) {
        return Objects.requireNonNull(page.pools().blockOptional().orElseThrow().get("orders"));
    }

    @Test
    void a_gateway_that_has_lost_its_backends_shuts_down() {
        ConfigurableApplicationContext gateway = start();
        assertThat(ask("/fair/x", "acme").join().statusCode()).isEqualTo(200);
        gateway.getBean(Network.class).lose();
        assertLost(ask("/fair/x", "acme").join());
        CompletableFuture<Void> closed = CompletableFuture.runAsync(gateway::close);
        assertThat(closed).succeedsWithin(Duration.ofSeconds(20));
    }
}
