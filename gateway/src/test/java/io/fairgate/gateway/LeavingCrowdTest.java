package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Twenty clients, most of which leave at some moment, and an upstream that does not notice: it never works on more requests than
 * the pool has permits. At the end nothing is in flight, nothing waits and no buffer is lost (the fixture checks that).
 */
@Tag("long")
class LeavingCrowdTest {

    private static final int PERMITS = 4;
    private static final int CLIENTS = 20;
    private static final int REQUESTS_EACH = 5;
    private static final String POOL = "permits: " + PERMITS + ", max-wait: 60s";

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final UninterruptedWork work =
            new UninterruptedWork(() -> 20 + ThreadLocalRandom.current().nextInt(80));
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @EnumSource(LeaveBy.class)
    void an_upstream_never_works_on_more_than_the_permits(LeaveBy way) throws Exception {
        upstream.on("/fair/work", work);
        gateway.start(TestPolicy.onePool(upstream.url(), POOL));
        sendAll(way);
    }

    @ParameterizedTest
    @EnumSource(LeaveBy.class)
    void an_upstream_never_works_on_more_than_the_permits_with_timeouts_and_retries(LeaveBy way) throws Exception {
        upstream.on("/fair/work", work);
        gateway.start(
                TestPolicy.onePool(upstream.url(), POOL)
                        .replace("[ \"FairShare=pool\" ]", "[ \"FairShare=pool\", \"Retry=2\" ]"),
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=50ms");
        sendAll(way);
    }

    private void sendAll(LeaveBy way) throws InterruptedException {
        List<Thread> clients = new ArrayList<>();
        for (int seed = 0; seed < CLIENTS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Thread client = new Thread(() -> sendEach(way, random));
            client.setDaemon(true);
            client.start();
            clients.add(client);
        }
        for (Thread client : clients) {
            client.join();
        }
        assertThat(failures).isEmpty();
        gateway.awaitInFlight("pool", 0);
        assertThat(work.begun()).isGreaterThan(PERMITS);
        assertThat(work.highest()).isBetween(2, PERMITS);
        eventually(() -> assertThat(work.now()).isZero());
        // Idle connections, some of which were opened for requests that were cancelled before they were sent.
        eventually(() -> assertThat(upstream.connections()).isLessThanOrEqualTo(2 * PERMITS));
    }

    private void sendEach(LeaveBy way, SplittableRandom random) {
        try {
            for (int i = 0; i < REQUESTS_EACH; i++) {
                String tenant = String.valueOf("abc".charAt(random.nextInt(3)));
                LeaveBy.Client client = random.nextBoolean()
                        ? way.get(gateway, "/fair/work", tenant)
                        : way.post(gateway, "/fair/work", tenant);
                if (random.nextInt(10) < 6) {
                    Thread.sleep(random.nextInt(120));
                    client.leave();
                } else {
                    client.read();
                }
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            failures.add(e);
        }
    }
}
