package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The commands {@code ready} and {@code reload}, for gateways that start and change. */
@ExtendWith(OutputCaptureExtension.class)
class RestartCommandsTest {

    private final Path folder;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    RestartCommandsTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @Test
    void reload_prints_the_mistakes_of_a_file_that_is_refused(CapturedOutput output) throws Exception {
        PolicyFileOnDisk file = new PolicyFileOnDisk(folder.resolve("fairgate.yml"))
                .write(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        gateway.start(file.path(), "--fairgate.watch-policy=0s");
        file.write(TestPolicy.onePool("http://127.0.0.1:9", "permits: 0"));
        assertThat(Fairgate.run("reload", "--gateway", gateway.managementUrl("")))
                .isOne();
        assertThat(output.getErr()).contains(":12: pools.pool.permits: 0 (expected: 1 to 1000000)");
        assertThat(output.getOut()).contains("refused; the policy before it stays in force");
    }

    @Test
    void ready_waits_until_a_gateway_has_been_ready_for_so_long(CapturedOutput output) {
        int port = FrontProxy.freePort();
        String url = "http://127.0.0.1:" + port;
        assertThat(Fairgate.run("ready", "--within", "0", "--gateway", url)).isOne();
        assertThat(output.getErr()).contains("not ready within 0 s: " + url + ": no answer");
        CompletableFuture<Integer> ready =
                CompletableFuture.supplyAsync(() -> Fairgate.run("ready", "--gateway", url, "--for", "1"));
        gateway.start(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"), "--management.server.port=" + port);
        assertThat(ready.join()).isZero();
        assertThat(Fairgate.run("ready", "--gateway", url, "--for", "3", "--within", "0"))
                .isOne();
        assertThat(output.getErr()).contains("not ready within 0 s: not for long enough");
    }
}
