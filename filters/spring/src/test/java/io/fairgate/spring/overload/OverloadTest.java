package io.fairgate.spring.overload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;

/** An overloaded gateway: one event loop, which is as late as the test says. */
class OverloadTest {

    private static final Duration LATE = Duration.ofMillis(80);
    private static final int CONNECTIONS = 60;
    private static final String UNKNOWN = "fairgate.policy.tenants.unknown=plan";

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.sendString(Mono.just("ok")))
            .bindNow();
    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();
    private final List<HttpConnection> connections = new ArrayList<>();
    private final Queue<HttpConnection> open = new ArrayDeque<>();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OneLoop {

        @Bean
        LoopTime time() {
            return new VirtualLoopTime();
        }

        @Bean
        ReactorResourceFactory resources() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            resources.setLoopResourcesSupplier(() -> LoopResources.create("overload", 1, true));
            return resources;
        }
    }

    private void start(String... more) {
        SpringApplication application = new SpringApplication(OneLoop.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        List<String> options = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.address=127.0.0.1",
                "--management.server.port=0",
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.plan.weight=1",
                "--fairgate.policy.tenants.plans.large.weight=2",
                "--fairgate.policy.tenants.members.greedy.plan=plan",
                "--fairgate.policy.tenants.members.modest.plan=plan",
                "--fairgate.policy.tenants.members.large.plan=large",
                "--spring.cloud.gateway.server.webflux.routes[0].id=up",
                "--spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "--spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/**"));
        List.of(more).forEach(option -> options.add("--" + option));
        contexts.add(application.run(options.toArray(String[]::new)));
    }

    @AfterEach
    void stop() throws IOException {
        for (HttpConnection connection : connections) {
            connection.close();
        }
        contexts.forEach(ConfigurableApplicationContext::close);
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private <T> T bean(Class<T> type) {
        return contexts.get(0).getBean(type);
    }

    private void measure(Duration lag) {
        ((VirtualLoopTime) bean(LoopTime.class)).measure(lag);
    }

    private int port(String name) {
        return contexts.get(0).getEnvironment().getRequiredProperty("local." + name + ".port", Integer.class);
    }

    private HttpConnection connect() throws IOException {
        HttpConnection connection = new HttpConnection(port("server"));
        connections.add(connection);
        return connection;
    }

    /** Sends a request on the next connection; that of a refused request is closed. */
    private HttpConnection.Answer send(String tenant) throws IOException {
        HttpConnection connection = open.remove();
        HttpConnection.Answer answer = connection.get("/x", tenant);
        if (answer.status() == 200) {
            open.add(connection);
        } else {
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.field("Connection")).isEqualTo("close");
            assertThat(connection.hasEnded()).isTrue();
        }
        return answer;
    }

    /** How many of these requests are served; the others must be refused. */
    private int served(String tenant, int requests) throws IOException {
        int served = 0;
        for (int i = 0; i < requests; i++) {
            served += send(tenant).status() == 200 ? 1 : 0;
        }
        return served;
    }

    /** An overload in which a tenant of weight 1 has sent ten requests in a tenth of a second. The loop is late. */
    private void overload() throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            open.add(connect());
        }
        // All of them have been accepted when they are answered.
        assertThat(served("greedy", CONNECTIONS)).isEqualTo(CONNECTIONS);
        measure(LATE);
        measure(LATE);
        assertThat(served("greedy", 10)).isEqualTo(10);
        measure(LATE);
    }

    private double counted(String meter, String... tags) {
        return bean(MeterRegistry.class).get(meter).tags(tags).counter().count();
    }

    @Test
    void requests_of_tenants_above_their_share_are_refused_first() throws IOException {
        start();
        overload();
        measure(Duration.ZERO);
        measure(Duration.ofMillis(30));
        // In 70 ms, a tenant of weight 1 may send as many as greedy did.
        assertThat(served("greedy", 20)).isBetween(5, 9);
        assertThat(served("modest", 5)).isEqualTo(5);
        assertThat(served("large", 40)).isBetween(12, 16);
        assertThat(counted("fairgate.refusals", "tenant", "greedy", "reason", "overloaded", "enforced", "true"))
                .isGreaterThanOrEqualTo(11);
    }

    @Test
    void a_refusal_says_when_to_try_again_and_can_be_looked_up() throws IOException {
        start();
        overload();
        measure(Duration.ZERO);
        served("greedy", 20);
        HttpConnection.Answer answer = send("greedy");
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.body()).contains("\"reason\":\"overloaded\"", "#temporary-reduced-capacity");
        assertThat(Integer.parseInt(answer.field("Retry-After"))).isBetween(1, 2);
        Decision decision = bean(DecisionLog.class).latest(1).get(0);
        assertThat(answer.body()).contains(decision.id());
        assertThat(decision.tenant()).isEqualTo("greedy");
        assertThat(decision.enforced()).isTrue();
    }

    @Test
    void unknown_ids_share_one_tenant() throws IOException {
        start(UNKNOWN);
        overload();
        measure(Duration.ofMillis(30));
        served("nobody", 20);
        assertThat(send("another").status()).isEqualTo(503);
        assertThat(send("modest").status()).isEqualTo(200);
    }

    @Test
    void new_connections_are_reset_and_those_to_the_management_port_are_not() throws IOException {
        start();
        overload();
        assertThat(connect().get("/x", "modest").status()).as("one of few").isEqualTo(200);
        HttpConnection refused = connect();
        assertThatThrownBy(() -> refused.get("/x", "modest")).isInstanceOf(IOException.class);
        assertThat(counted("fairgate.connections.refused", "enforced", "true")).isEqualTo(1);
        try (HttpConnection management = new HttpConnection(port("management"))) {
            assertThat(management.get("/actuator/health", "nobody").status()).isEqualTo(200);
        }
        // Its first request was in the same moment.
        measure(Duration.ZERO);
        assertThat(send("modest").status()).isEqualTo(200);
    }

    @Test
    void in_a_dry_run_refusals_are_noted_only() throws IOException {
        start("fairgate.policy.enforce=false");
        overload();
        assertThat(served("greedy", 20)).isEqualTo(20);
        assertThat(counted("fairgate.refusals", "tenant", "greedy", "reason", "overloaded", "enforced", "false"))
                .isPositive();
        Decision decision = bean(DecisionLog.class).latest(1).get(0);
        assertThat(decision.reason()).isEqualTo("overloaded");
        assertThat(decision.enforced()).isFalse();
        connect().get("/x", "modest");
        assertThat(connect().get("/x", "modest").status()).isEqualTo(200);
        assertThat(counted("fairgate.connections.refused", "enforced", "false")).isEqualTo(1);
        assertThat(counted("fairgate.connections.refused", "enforced", "true")).isZero();
    }

    @Test
    void everything_is_served_when_the_overload_is_over() throws IOException {
        start();
        overload();
        assertThat(bean(EventLoops.class).areOverloaded()).isTrue();
        for (int i = 0; i < 125; i++) {
            measure(Duration.ZERO);
        }
        assertThat(bean(EventLoops.class).areOverloaded()).isFalse();
        assertThat(served("greedy", 50)).isEqualTo(50);
        connect().get("/x", "modest");
        assertThat(connect().get("/x", "modest").status()).isEqualTo(200);
    }

    @Test
    void without_a_bound_nothing_is_refused_and_the_lag_is_shown() throws IOException {
        start("fairgate.overload.max-lag=0s");
        overload();
        assertThat(served("greedy", 50)).isEqualTo(50);
        connect().get("/x", "modest");
        assertThat(connect().get("/x", "modest").status()).isEqualTo(200);
        assertThat(bean(MeterRegistry.class)
                        .get("fairgate.event.loop.lag.seconds")
                        .gauge()
                        .value())
                .isEqualTo(0.08);
    }
}
