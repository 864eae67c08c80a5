package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages for operators, and that clients cannot reach them. */
class ManagementTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    /** With a fixed port, as in production; Spring Cloud Gateway compares with the configured one. */
    @BeforeAll
    static void start() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        gateway.start(
                TestPolicy.onePool(upstream.url(), "permits: 1, max-waiting: 1, max-wait: 20s"),
                "--management.server.port=" + port);
    }

    @Test
    void the_decision_that_a_client_reports_can_be_looked_up() {
        Answer refused = Answer.to(gateway.url("/fair/some/path?secret=1"), "X-Tenant-Id", "nobody");
        assertThat(refused.status()).isEqualTo(403);
        String id = refused.json("decision");
        Answer decision = Answer.to(gateway.managementUrl("/actuator/decisions/" + id));
        assertThat(decision.json())
                .containsEntry("id", id)
                .containsEntry("status", 403)
                .containsEntry("reason", "unknown-tenant")
                .containsEntry("tenant", null)
                .containsEntry("path", "/fair/some/path")
                .containsEntry("claimed", "nobody")
                .containsEntry("peer", "127.0.0.1")
                .containsEntry("route", "fair")
                .containsEntry("cause", null)
                .containsKey("at");
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions")).body())
                .startsWith("[{\"id\":\"" + id);
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions/0000000000000000"))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void a_saturated_pool_shows_its_tenants_and_is_healthy() {
        CountDownLatch end = new CountDownLatch(1);
        upstream.on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        CompletableFuture<Answer> held = Answer.future(gateway.url("/fair/held"), "X-Tenant-Id", "a");
        gateway.awaitInFlight("pool", 1);
        CompletableFuture<Answer> waiting = Answer.future(gateway.url("/fair/x"), "X-Tenant-Id", "b");
        gateway.awaitWaiting("pool", 1);
        Answer refused = Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "b");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(Answer.to(gateway.managementUrl("/actuator/decisions/" + refused.json("decision")))
                        .json())
                .containsEntry("tenant", "b")
                .containsEntry("reason", "pool-queue-full");

        assertThat(Answer.to(gateway.managementUrl("/actuator/pools")).json().get("pool"))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.map(String.class, Object.class))
                .containsEntry("permits", 1)
                .containsEntry("inFlight", 1)
                .containsEntry("waiting", 1)
                .extractingByKey("tenants")
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.list(Map.class))
                .extracting(tenant -> tenant.get("tenant") + " " + tenant.get("inFlight") + " " + tenant.get("waiting"))
                .containsExactlyInAnyOrder("a 1 0", "b 0 1");
        for (String health : List.of("/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness")) {
            Answer up = Answer.to(gateway.managementUrl(health));
            assertThat(up.status()).as(health).isEqualTo(200);
            assertThat(up.json("status")).as(health).isEqualTo("UP");
        }
        end.countDown();
        held.join();
        assertThat(waiting.join().status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/actuator",
                "/actuator/",
                "/actuator/health",
                "/actuator/health/liveness",
                "/actuator/info",
                "/actuator/prometheus",
                "/actuator/metrics",
                "/actuator/pools",
                "/actuator/decisions",
                "/actuator/env",
                "/actuator/gateway/routes",
                "/actuator/gateway/refresh",
                "/actuator/shutdown",
                "/health",
                "/livez",
                "/readyz",
                "/metrics",
                "/fair/../actuator/pools",
                "/fair/..%2factuator/pools",
                "/actuator;/pools",
                "//actuator/pools"
            })
    void nothing_of_management_is_on_the_traffic_port(String path) throws Exception {
        try (RawClient client = new RawClient(gateway.port())) {
            String answer = client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
                    .readAll();
            assertThat(answer).matches("(?s)HTTP/1.1 (404|400|401) .*").doesNotContain("UP", "permits", "fairgate_");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"env", "beans", "heapdump", "configprops", "gateway/routes", "shutdown", "loggers", "threaddump"
            })
    void pages_that_are_not_enabled_are_not_on_the_management_port(String page) {
        assertThat(Answer.to(gateway.managementUrl("/actuator/" + page)).status())
                .isEqualTo(404);
    }

    @Test
    void routes_are_not_on_the_management_port() {
        assertThat(Answer.to(gateway.managementUrl("/plain/x"), "X-Tenant-Id", "a")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void the_management_port_answers_on_loopback_only() throws Exception {
        InetAddress other = addressOfThisMachine();
        // On a machine with loopback only there are no other addresses to test.
        assumeThat(other).as("an address besides loopback").isNotNull();
        assertThatThrownBy(() -> {
                    try (Socket socket = new Socket()) {
                        socket.connect(new InetSocketAddress(other, gateway.managementPort()), 5000);
                    }
                })
                .isInstanceOf(IOException.class);
        assertThat(gateway.context().getEnvironment().getProperty("management.server.address"))
                .isEqualTo("127.0.0.1");
    }

    private static @org.jspecify.annotations.Nullable InetAddress addressOfThisMachine() throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .findFirst()
                .orElse(null);
    }
}
