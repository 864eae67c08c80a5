package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The request meters of Spring and Spring Cloud Gateway, which are off by default. */
class RequestMetersTest {

    private static final List<String> SPRINGS_OWN =
            List.of("http.server.requests", "http.client.requests", "spring.cloud.gateway.requests");

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    /** The request meters after a served request and a client that left before the headers of its answer. */
    private Set<String> metersOfRequests(String... options) throws IOException {
        CountDownLatch mayEnd = new CountDownLatch(1);
        upstream.on("/fair/held", exchange -> {
            exchange.await(mayEnd);
            ScriptedUpstream.OK.answer(exchange);
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 30s"), options);
        try (RawClient served = new RawClient(gateway.port());
                RawClient leaver = new RawClient(gateway.port())) {
            served.get("/fair/held", "a");
            gateway.awaitInFlight("pool", 1);
            leaver.get("/fair/x", "b");
            gateway.awaitWaiting("pool", 1);
            leaver.reset();
            gateway.awaitWaiting("pool", 0);
            mayEnd.countDown();
            served.readUntil("ok");
        }
        gateway.awaitInFlight("pool", 0);
        MetricsPage.of(gateway);
        Set<String> names = new TreeSet<>();
        for (Meter meter : gateway.context().getBean(MeterRegistry.class).getMeters()) {
            String name = meter.getId().getName();
            if (name.contains("request") && !name.startsWith("fairgate.")) {
                names.add(name);
            }
        }
        return names;
    }

    @Test
    void by_default_there_are_no_request_meters() throws IOException {
        assertThat(metersOfRequests()).isEmpty();
    }

    @Test
    void springs_properties_enable_request_meters_without_leaking_timers() throws IOException {
        assertThat(metersOfRequests(
                        "--management.observations.enable.http.server.requests=true",
                        "--spring.cloud.gateway.server.webflux.observability.enabled=true",
                        "--spring.cloud.gateway.server.webflux.metrics.enabled=true"))
                .containsExactlyInAnyOrderElementsOf(SPRINGS_OWN);
    }
}
