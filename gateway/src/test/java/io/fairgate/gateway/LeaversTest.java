package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Ten thousand clients that leave before the headers of their answers: they leave no meter, no sample, no timer and no
 * object behind.
 */
@Tag("long")
class LeaversTest {

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              plans:
                plan: { quotas: [ { name: burst, limit: 1000000, per: 1s } ] }
              members:
                a: { plan: plan }
                b: { plan: plan }
            pools:
              busy: { permits: 1, max-wait: 5m, max-hold: 5m, max-waiting: 1000 }
              late: { permits: 1000, max-hold: 5m }
            routes:
              - id: busy
                uri: "UPSTREAM"
                predicates: [ "Path=/busy/**" ]
                filters: [ "FairShare=busy" ]
                metadata: { response-timeout: none }
              - { id: late, uri: "UPSTREAM", predicates: [ "Path=/late/**" ], filters: [ "FairShare=late" ] }
            """;

    /** What a client has sent when it leaves. */
    private enum Sent {
        A_REQUEST_THAT_WAITS_FOR_A_PERMIT("GET /busy/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n"),
        A_REQUEST_WITH_HALF_OF_ITS_BODY(
                "POST /busy/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: b\r\nContent-Length: 4\r\n\r\nab"),
        A_REQUEST_THAT_THE_UPSTREAM_WORKS_ON("GET /late/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n"),
        HALF_OF_THE_HEADERS("GET /late/x HTTP/1.1\r\nHost: test\r\nX-Tenant");

        private final String text;

        Sent(String text) {
            this.text = text;
        }
    }

    /** In the queues of schedulers and of event loops. Connections to the upstream have some. */
    private static final List<String> TIMERS = List.of(
            "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask",
            "io.netty.util.concurrent.ScheduledFutureTask");

    /** At most, of one class. */
    private static final int OBJECTS_OF_A_CONNECTION = 20;

    private static final int TIMERS_OF_A_CONNECTION = 4;

    private static final int AT_ONCE = 200;
    private static final int OF_EACH = AT_ONCE / Sent.values().length;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private volatile CountDownLatch answer = new CountDownLatch(1);

    @Test
    void clients_that_leave_leave_nothing_behind() throws Exception {
        assertThatNothingIsLeft(10_000);
    }

    @Test
    void nor_do_they_with_the_request_meters_of_spring() throws Exception {
        assertThatNothingIsLeft(
                2_000,
                "--management.observations.enable.http.server.requests=true",
                "--spring.cloud.gateway.server.webflux.observability.enabled=true",
                "--spring.cloud.gateway.server.webflux.metrics.enabled=true");
    }

    /** What all of them need together, such as pools of buffers, exists after the first fifth. */
    private void assertThatNothingIsLeft(int clients, String... options) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        upstream.on("/busy/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        upstream.on("/late/x", exchange -> {
            exchange.await(answer);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<String> all = new ArrayList<>(List.of(options));
        // So that what is recorded for what-if does not grow after the first fifth.
        all.add("--fairgate.what-if.requests=50");
        gateway.start(POLICY.replace("UPSTREAM", upstream.url()), all.toArray(String[]::new));
        try (RawClient holder = new RawClient(gateway.port())) {
            holder.get("/busy/held", "b");
            gateway.awaitInFlight("busy", 1);
            leave(clients / 5);
            Set<Meter.Id> meters = meters();
            LiveObjects before = LiveObjects.count();
            int connections = upstream.connections();
            leave(clients - clients / 5);

            Set<Meter.Id> more = new HashSet<>(meters());
            more.removeAll(meters);
            assertThat(more).as("more meters").isEmpty();
            // The gateway may not have noticed yet that the last of them have left.
            eventually(() -> assertThat(registry().getMeters())
                    .allSatisfy(meter -> assertThat(meter instanceof LongTaskTimer timer ? timer.activeTasks() : 0)
                            .as("active tasks of %s", meter.getId())
                            .isZero()));
            // Half of those that have sent the same and leave in the same way: less than one object each.
            int few = (clients - clients / 5) / Sent.values().length / 2 / 2;
            eventually(() -> assertNoMore(before, LiveObjects.count(), few, upstream.connections() - connections));
            end.countDown();
            holder.readUntil("ok");
        }
    }

    /** @param opened connections to the upstream; how many are open depends on how requests overlapped */
    private static void assertNoMore(LiveObjects before, LiveObjects after, int few, int opened) {
        long more = Math.max(0, opened);
        assertThat(after.moreThan(before, few + OBJECTS_OF_A_CONNECTION * more))
                .as("more live objects, with %d more connections to the upstream", more)
                .isEmpty();
        for (String timer : TIMERS) {
            assertThat(after.of(timer))
                    .as("%s, with %d more connections to the upstream", timer, more)
                    .isLessThanOrEqualTo(before.of(timer) + AT_ONCE / 4 + TIMERS_OF_A_CONNECTION * more);
        }
    }

    private MeterRegistry registry() {
        return gateway.context().getBean(MeterRegistry.class);
    }

    /** Also those that only a scrape registers; without those that a collection of garbage registers. */
    private Set<Meter.Id> meters() {
        MetricsPage.upToDate(gateway);
        return registry().getMeters().stream()
                .map(Meter::getId)
                .filter(id -> !id.getName().startsWith("jvm."))
                .collect(Collectors.toSet());
    }

    private void leave(int count) throws Exception {
        for (int left = 0; left < count; left += AT_ONCE) {
            answer = new CountDownLatch(1);
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < OF_EACH; i++) {
                for (Sent sent : Sent.values()) {
                    clients.add(new RawClient(gateway.port()).send(sent.text));
                }
            }
            gateway.awaitWaiting("busy", 2 * OF_EACH);
            eventually(() -> assertThat(upstream.concurrency()).isEqualTo(OF_EACH + 1));
            for (int i = 0; i < clients.size(); i++) {
                if (i / Sent.values().length % 2 == 0) {
                    clients.get(i).close();
                } else {
                    clients.get(i).reset();
                }
            }
            gateway.awaitWaiting("busy", 0);
            // Otherwise some are answered in the very moment in which they leave, which has meters of its own.
            eventually(
                    () -> assertThat(MetricsPage.of(gateway).value("fairgate_permits_without_client", "pool", "late"))
                            .isEqualTo(OF_EACH));
            answer.countDown();
            gateway.awaitInFlight("late", 0);
        }
        upstream.forgetRequests();
    }
}
