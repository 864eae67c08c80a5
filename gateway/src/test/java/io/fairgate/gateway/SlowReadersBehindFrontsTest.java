package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.policy.ApiKeyHash;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of a real nginx and a real HAProxy that read nothing do not keep their permits; those that read slowly and steadily do,
 * although the proxies take nothing for them for a long time.
 */
@Tag("fronts")
class SlowReadersBehindFrontsTest {

    private static final int LARGE = 32 << 20;
    private static final String KEY_OF_A = "key-of-a-behind-fronts";
    private static final String KEY_OF_B = "key-of-b-behind-fronts";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    private static final Fronts fronts = new Fronts();

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        both.start(
                """
                tenants:
                  trusted-proxies: [127.0.0.2]
                  identify: [ api-key: { header: X-Api-Key } ]
                  plans: { plan: {} }
                  members:
                    a: { plan: plan, api-keys: [ "%s" ] }
                    b: { plan: plan, api-keys: [ "%s" ] }
                """.formatted(
                                        ApiKeyHash.of(KEY_OF_A).text(),
                                        ApiKeyHash.of(KEY_OF_B).text())
                        + GatewayAndUpstream.FAIR_ROUTE.replace(
                                "permits: 4", "permits: 6, max-wait: 5m, max-hold: 10m"),
                "--fairgate.upstream-body-idle=10m",
                "--fairgate.clients.min-rate=2500B");
        both.upstream()
                .on(
                        "/fair/large",
                        exchange -> exchange.sendLast(
                                "HTTP/1.1 200 OK\r\nContent-Length: " + LARGE + "\r\n\r\n" + "x".repeat(LARGE)));
        fronts.start(folder, both.gateway().port());
    }

    @AfterAll
    static void stop() {
        fronts.close();
    }

    private static RawClient large(FrontProxy.Kind front, boolean isSecure) throws Exception {
        return fronts.slowClient(front, isSecure).send(get("/fair/large", KEY_OF_A));
    }

    private static String get(String path, String key) {
        return "GET " + path + " HTTP/1.1\r\nHost: test\r\nX-Api-Key: " + key + "\r\n\r\n";
    }

    @Test
    void clients_that_read_nothing_lose_their_permits_and_those_that_read_slowly_do_not() throws Exception {
        CountDownLatch held = new CountDownLatch(4);
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            held.countDown();
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<RawClient> slow = new ArrayList<>();
        List<RawClient> steady = new ArrayList<>();
        for (FrontProxy.Kind front : FrontProxy.Kind.values()) {
            slow.add(large(front, false));
            slow.add(large(front, true));
            steady.add(large(front, false));
        }
        both.gateway().awaitInFlight("pool", 6);
        List<RawClient> others = new ArrayList<>();
        for (int i = 0; i < slow.size(); i++) {
            others.add(new RawClient(both.gateway().port()).send(get("/fair/held", KEY_OF_B)));
        }
        both.gateway().awaitWaiting("pool", slow.size());

        for (int second = 0; held.getCount() > 0; second++) {
            assertThat(second).isLessThan(240);
            for (RawClient client : steady) {
                client.read(10_000);
            }
            Thread.sleep(1_000);
        }
        assertThat(slowReaders()).isEqualTo(slow.size());
        end.countDown();
        for (RawClient other : others) {
            assertThat(other.readUntil("ok")).startsWith("HTTP/1.1 200");
            other.close();
        }
        both.gateway().awaitInFlight("pool", 2);
        for (RawClient client : slow) {
            client.close();
        }
        for (RawClient client : steady) {
            client.read(10_000);
            client.close();
        }
        both.gateway().awaitInFlight("pool", 0);
    }

    private static double slowReaders() {
        return MetricsPage.of(both.gateway())
                .value("fairgate_failures_total", "pool", "pool", "tenant", "a", "reason", "slow-reader");
    }
}
