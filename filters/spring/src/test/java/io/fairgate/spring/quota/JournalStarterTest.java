package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.metrics.Meter;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import reactor.netty.DisposableServer;

/** The usage journal in another application's Spring Cloud Gateway. */
class JournalStarterTest {

    private final DisposableServer upstream =
            OwnLoop.server().handle((request, response) -> response.send()).bindNow();

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    @TempDir
    private Path directory = Path.of("");

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class CustomGateway {

        /** Whether each request was on the event loop of its connection once its quotas were charged. */
        private static final List<Boolean> AT_HOME = new CopyOnWriteArrayList<>();

        @Bean
        @Order(-99)
        GlobalFilter afterTheCharge() {
            return (exchange, chain) -> {
                AT_HOME.add(ClientConnection.eventLoop(exchange) instanceof io.netty.channel.EventLoop loop
                        && loop.inEventLoop());
                return chain.filter(exchange);
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnQuotas {
        @Bean
        Quotas ownQuotas() {
            return new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
        }
    }

    private ConfigurableApplicationContext start(Class<?> more, String journal) {
        SpringApplication application = new SpringApplication(CustomGateway.class, more);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of(
                "logging.level.root",
                "off",
                "spring.main.banner-mode",
                "off",
                "spring.reactor.netty.shutdown-quiet-period",
                "0s"));
        ConfigurableApplicationContext context = application.run(
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.prepaid.quotas[0].name=prepaid",
                "--fairgate.policy.tenants.plans.prepaid.quotas[0].limit=500",
                "--fairgate.policy.tenants.plans.prepaid.quotas[0].per=total",
                "--fairgate.policy.tenants.members.acme.plan=prepaid",
                "--fairgate.policy.pools.orders.permits=4",
                "--fairgate.quotas.journal=" + journal,
                "--spring.cloud.gateway.server.webflux.routes[0].id=fair",
                "--spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "--spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/**",
                "--spring.cloud.gateway.server.webflux.routes[0].filters[0]=FairShare=orders",
                "--server.address=127.0.0.1",
                "--server.port=0");
        contexts.add(context);
        return context;
    }

    @AfterEach
    void stop() {
        contexts.forEach(ConfigurableApplicationContext::close);
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private static int ask(ConfigurableApplicationContext gateway) throws IOException, InterruptedException {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/x"))
                                .header("X-Tenant-Id", "acme")
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void a_request_that_waited_for_the_disk_continues_on_its_event_loop() throws Exception {
        CustomGateway.AT_HOME.clear();
        ConfigurableApplicationContext gateway =
                start(CustomGateway.class, directory.resolve("usage").toString());
        // The first one waits for the first chunk.
        assertThat(ask(gateway)).isEqualTo(200);
        assertThat(ask(gateway)).isEqualTo(200);
        assertThat(CustomGateway.AT_HOME).containsExactly(true, true);
    }

    @Test
    void a_failing_journal_shows_in_health_and_metrics_and_refuses_nothing() throws Exception {
        Path file = directory.resolve("usage");
        ConfigurableApplicationContext gateway = start(CustomGateway.class, file.toString());
        JournalStatus status = gateway.getBean(JournalStatus.class);
        MeterRegistry meters = gateway.getBean(MeterRegistry.class);
        assertThat(status.health())
                .isEqualTo(Health.up()
                        .withDetail("file", file.toString())
                        .withDetail("written", true)
                        .build());
        assertThat(meters.get(Meter.JOURNAL_FAILING.id()).gauge().value()).isZero();

        status.changed(new IOException("No space left on device"));
        Health failing = status.health();
        assertThat(failing.getStatus()).isEqualTo(Status.UP);
        assertThat(failing.getDetails())
                .containsEntry("written", false)
                .containsEntry("cause", "java.io.IOException: No space left on device")
                .containsKey("since");
        assertThat(meters.get(Meter.JOURNAL_FAILING.id()).gauge().value()).isEqualTo(1);
        assertThat(meters.get(Meter.JOURNAL_FAILURES.id()).counter().count()).isEqualTo(1);
        assertThat(ask(gateway)).isEqualTo(200);

        status.changed(null);
        assertThat(status.health().getDetails()).containsEntry("written", true).doesNotContainKey("cause");
        assertThat(meters.get(Meter.JOURNAL_FAILING.id()).gauge().value()).isZero();
        assertThat(meters.get(Meter.JOURNAL_FAILURES.id()).counter().count()).isEqualTo(1);
    }

    @Test
    void a_journal_beside_quotas_of_the_applications_own_is_refused_at_the_start() {
        Path file = directory.resolve("usage");
        assertThatThrownBy(() -> start(OwnQuotas.class, file.toString()))
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "fairgate.quotas.journal: %s (expected: no journal, because the application has its own Quotas bean, which would not write it)",
                        file);
        assertThat(Files.exists(file)).isFalse();
    }

    @Test
    void an_empty_journal_setting_means_no_journal() throws Exception {
        ConfigurableApplicationContext gateway = start(OwnQuotas.class, "");
        assertThat(ask(gateway)).isEqualTo(200);
        assertThat(gateway.getBeanNamesForType(JournalStatus.class)).isEmpty();
        assertThat(ask(start(CustomGateway.class, ""))).isEqualTo(200);
    }
}
