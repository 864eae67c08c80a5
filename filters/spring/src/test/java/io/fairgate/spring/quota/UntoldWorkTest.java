package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.spring.OwnLoop;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableChannel;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;

/** The charge of requests about which the gateway's own client reports nothing. */
class UntoldWorkTest {
    private static final java.net.http.HttpClient CLIENT = java.net.http.HttpClient.newHttpClient();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.sendString(Mono.just("ok")))
            .bindNow();

    /** Accepts a request, and closes the connection. */
    private final DisposableServer hangsUp = OwnLoop.server()
            .handle((request, response) -> {
                response.withConnection(DisposableChannel::dispose);
                return Mono.never();
            })
            .bindNow();

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class CustomGateway {
        private final Sinks.Empty<Void> reached = Sinks.empty();

        @Bean
        RouterFunction<ServerResponse> pages() {
            return RouterFunctions.route()
                    .GET("/page", request -> ServerResponse.ok().bodyValue("here"))
                    .GET("/broken", request -> Mono.error(new IOException("the disk is full")))
                    .GET("/slow", request -> {
                        reached.tryEmitEmpty();
                        return Mono.never();
                    })
                    .build();
        }
    }

    /** No customizer is applied to it. */
    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        HttpClient customClient() {
            return HttpClient.create();
        }
    }

    private ConfigurableApplicationContext start(Class<?>... more) {
        List<Class<?>> sources = new ArrayList<>(List.of(more));
        sources.add(CustomGateway.class);
        SpringApplication application = new SpringApplication(sources.toArray(Class<?>[]::new));
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        DisposableServer gone = OwnLoop.server().bindNow();
        gone.disposeNow(Duration.ofSeconds(30));
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.paid.quotas[0].name=prepaid",
                "--fairgate.policy.tenants.plans.paid.quotas[0].limit=10",
                "--fairgate.policy.tenants.plans.paid.quotas[0].per=total",
                "--fairgate.policy.tenants.members.acme.plan=paid"));
        route(arguments, 0, "page", "forward:/page");
        route(arguments, 1, "broken", "forward:/broken");
        route(arguments, 2, "slow", "forward:/slow");
        route(arguments, 3, "upstream", "http://127.0.0.1:" + upstream.port());
        route(arguments, 4, "gone", "http://127.0.0.1:" + gone.port());
        route(arguments, 5, "hangs-up", "http://127.0.0.1:" + hangsUp.port());
        ConfigurableApplicationContext context = application.run(arguments.toArray(String[]::new));
        contexts.add(context);
        return context;
    }

    private static void route(List<String> arguments, int number, String id, String uri) {
        String route = "--spring.cloud.gateway.server.webflux.routes[" + number + "].";
        arguments.add(route + "id=" + id);
        arguments.add(route + "uri=" + uri);
        arguments.add(route + "predicates[0]=Path=/to/" + id);
    }

    @AfterEach
    void stop() {
        contexts.forEach(ConfigurableApplicationContext::close);
        upstream.disposeNow(Duration.ofSeconds(30));
        hangsUp.disposeNow(Duration.ofSeconds(30));
    }

    private static HttpRequest request(ConfigurableApplicationContext gateway, String path) {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant-Id", "acme")
                .build();
    }

    private static int ask(ConfigurableApplicationContext gateway, String path) throws Exception {
        return CLIENT.send(request(gateway, path), BodyHandlers.discarding()).statusCode();
    }

    /** The settlement is a little after the last byte, so the usage must also stay the same. */
    private static void awaitUsed(ConfigurableApplicationContext gateway, long used) {
        Quota prepaid = new Quota.Total("prepaid", 10);
        Awaitility.await()
                .during(Duration.ofMillis(200))
                .untilAsserted(() -> assertThat(Objects.requireNonNull(gateway.getBean(Quotas.class)
                                        .balances(QuotaSet.of(TenantId.of("acme"), prepaid))
                                        .block())
                                .get(0)
                                .remaining())
                        .isEqualTo(10 - used));
    }

    @Test
    void a_request_forwarded_within_the_application_is_always_charged() throws Exception {
        ConfigurableApplicationContext gateway = start();
        assertThat(ask(gateway, "/to/page")).isEqualTo(200);
        awaitUsed(gateway, 1);
        assertThat(ask(gateway, "/to/broken")).isGreaterThanOrEqualTo(500);
        awaitUsed(gateway, 2);
        CompletableFuture<?> left = CLIENT.sendAsync(request(gateway, "/to/slow"), BodyHandlers.discarding());
        gateway.getBean(CustomGateway.class).reached.asMono().block(Duration.ofSeconds(20));
        left.cancel(true);
        awaitUsed(gateway, 3);
    }

    @Test
    void with_the_applications_own_client_successful_requests_are_charged() throws Exception {
        ConfigurableApplicationContext gateway = start(OwnClient.class);
        assertThat(ask(gateway, "/to/upstream")).isEqualTo(200);
        awaitUsed(gateway, 1);
        for (String fails : List.of("/to/gone", "/to/hangs-up")) {
            assertThat(ask(gateway, fails)).isGreaterThanOrEqualTo(500);
            awaitUsed(gateway, 1);
        }
    }

    @Test
    void with_the_gateways_client_only_unsent_requests_are_given_back() throws Exception {
        ConfigurableApplicationContext gateway = start();
        assertThat(ask(gateway, "/to/gone")).isGreaterThanOrEqualTo(500);
        awaitUsed(gateway, 0);
        assertThat(ask(gateway, "/to/hangs-up")).isGreaterThanOrEqualTo(500);
        awaitUsed(gateway, 1);
    }
}
