package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Routes with {@code lb://}, in an application that has Spring Cloud LoadBalancer. */
class LoadBalancedTest {

    private static final ScriptedInstance FIRST = ScriptedInstance.onLoopback();
    private static final ScriptedInstance SECOND = ScriptedInstance.onLoopback();
    private static final String INSTANCES = "spring.cloud.discovery.client.simple.instances.orders";

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .set(INSTANCES + "[0].uri", "http://" + FIRST.name())
            .set(INSTANCES + "[1].uri", "http://" + SECOND.name())
            .routeTo("lb://orders", "balanced", List.of("Path=/orders/**"), List.of("FairShare=pool"))
            .route("all", "Path=/**");

    @AfterAll
    static void close() {
        FIRST.close();
        SECOND.close();
    }

    @Test
    void such_a_route_passes_the_chain() {
        gateways.assertForwardedDirectly("balanced", false);
        gateways.assertForwardedDirectly("all", true);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void its_requests_hold_permits_and_reach_all_instances(Way way) throws Exception {
        FIRST.forget();
        SECOND.forget();
        try (RecordingClient client = gateways.connect(way)) {
            for (int i = 0; i < 10; i++) {
                client.send(request("GET", "/orders/x"));
                Wire.Head head = Objects.requireNonNull(client.response());
                assertThat(head.start()).startsWith("HTTP/1.1 200");
                assertThat(head.values("Server-Timing")).as("it had a permit").hasSize(1);
            }
        }
        assertThat(FIRST.requests()).hasSize(5);
        assertThat(SECOND.requests()).hasSize(5);
    }
}
