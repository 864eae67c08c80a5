package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two gateways behind a real HAProxy or nginx with the settings of docs/rolling-restart.md, each restarted in turn under load. */
@Tag("fronts")
class RollingRestartIT {

    private static final int PER_SECOND = 300;
    private static final int TIMES = Integer.getInteger("fairgate.restarts", 20);

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final int[] ports =
            IntStream.generate(FrontProxy::freePort).limit(4).toArray();

    private final Map<String, Integer> timesSeen = new ConcurrentHashMap<>();

    RollingRestartIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private Started gateway(int number) throws Exception {
        Path own = Files.createDirectories(folder.resolve("gateway" + number));
        String policy = TestPolicy.onePool(upstream.url(), "permits: 20, max-waiting: 2000, max-wait: 20s");
        return fairgate.serve(
                own,
                policy,
                "--server.port=" + ports[2 * number],
                "--management.server.port=" + ports[2 * number + 1],
                "--fairgate.shutdown-grace=3s");
    }

    /** Requests wait for permits, and some take longer than the grace time. */
    @ParameterizedTest
    @EnumSource
    @Timeout(value = 45, unit = TimeUnit.MINUTES)
    void no_request_is_lost_and_none_is_sent_twice(FrontProxy.Kind kind) throws Exception {
        upstream.on("/fair/quick", taking(0)).on("/fair/slow", taking(2000)).on("/fair/slower", taking(6000));
        List<Started> gateways = new ArrayList<>(List.of(gateway(0), gateway(1)));
        gateways.forEach(Started::port);
        try (LoadBalancer balancer = new LoadBalancer(kind, folder, ports);
                RateLoad load = new RateLoad(balancer.port(), "/fair")) {
            balancer.awaitAllUp();
            load.start(PER_SECOND);
            for (int i = 0; i < TIMES; i++) {
                for (int number = 0; number < gateways.size(); number++) {
                    restart(gateways, number);
                    balancer.awaitAllUp();
                }
                upstream.forgetRequests();
            }
            load.end();
            assertThat(load.failures()).isEmpty();
            assertThat(load.wasSteady()).as("%d requests", load.sent()).isTrue();
            assertThat(timesSeen.values())
                    .as("times that each request was seen")
                    .containsOnly(1);
            assertThat(timesSeen).hasSize(Math.toIntExact(load.sent()));
        }
    }

    private ScriptedUpstream.Script taking(int millis) {
        return exchange -> {
            exchange.head()
                    .lines()
                    .filter(line -> line.regionMatches(true, 0, "X-Load-Id:", 0, 10))
                    .forEach(line -> timesSeen.merge(line.substring(10).trim(), 1, Integer::sum));
            Thread.sleep(millis);
            exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        };
    }

    private void restart(List<Started> gateways, int number) throws Exception {
        assertThat(gateways.get(number).terminate().awaitExit()).isZero();
        gateways.set(number, gateway(number));
        gateways.get(number).port();
    }
}
