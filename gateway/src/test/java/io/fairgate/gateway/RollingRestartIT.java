package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
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

    RollingRestartIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private Started gateway(int number) throws Exception {
        Path own = Files.createDirectories(folder.resolve("gateway" + number));
        String policy = TestPolicy.onePool(upstream.url(), "permits: 50, max-waiting: 2000, max-wait: 20s");
        return fairgate.serve(
                own,
                policy,
                "--server.port=" + ports[2 * number],
                "--management.server.port=" + ports[2 * number + 1],
                "--fairgate.shutdown-grace=3s");
    }

    @ParameterizedTest
    @EnumSource
    void no_request_is_lost(FrontProxy.Kind kind) throws Exception {
        upstream.on("/fair/quick", ScriptedUpstream.OK);
        upstream.on("/fair/slow", exchange -> {
            Thread.sleep(2000);
            exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
        List<Started> gateways = new ArrayList<>(List.of(gateway(0), gateway(1)));
        gateways.forEach(Started::port);
        try (LoadBalancer balancer = new LoadBalancer(kind, folder, ports);
                RateLoad load = new RateLoad("http://127.0.0.1:" + balancer.port() + "/fair")) {
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
            assertThat(load.sent()).isGreaterThan(PER_SECOND * TIMES);
        }
    }

    private void restart(List<Started> gateways, int number) throws Exception {
        assertThat(gateways.get(number).terminate().awaitExit()).isZero();
        gateways.set(number, gateway(number));
        gateways.get(number).port();
    }
}
