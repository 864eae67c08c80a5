package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code lease} as a process that a signal ends: it leaves neither a lease nor a place in the queue nor a process behind. */
@Tag("long")
class LeaseCommandIT {

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    LeaseCommandIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private Started lease(String... command) {
        String[] args = new String[command.length + 6];
        args[0] = "lease";
        args[1] = "--gateway=http://127.0.0.1:" + LeasingTenant.port(gateway);
        args[2] = "--pool=pool";
        args[3] = "--tenant=a";
        args[4] = "--ttl=5m";
        args[5] = "--";
        System.arraycopy(command, 0, args, 6, command.length);
        return fairgate.start(folder, args);
    }

    @Test
    void a_signal_ends_the_wait_and_the_command_with_all_that_it_has_started() throws Exception {
        LeasingTenant.start(gateway, TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        Path child = folder.resolve("child");
        Started first = lease("sh", "-c", "sleep 300 & echo $! > \"$0\"; wait", child.toString());
        RunningGateway.eventually(() ->
                assertThat(Files.exists(child) ? Files.readString(child) : "").endsWith("\n"));
        Started second = lease("true");
        gateway.awaitWaiting("pool", 1);

        second.terminate().awaitExit();
        RunningGateway.eventually(
                () -> assertThat(gateway.pool("pool").waiting()).isZero());
        assertThat(gateway.pool("pool").inFlight()).isOne();

        first.terminate().awaitExit();
        RunningGateway.eventually(
                () -> assertThat(gateway.pool("pool").inFlight()).isZero());
        long id = Long.parseLong(Objects.requireNonNull(Files.readString(child)).strip());
        assertThat(ProcessHandle.of(id).filter(ProcessHandle::isAlive)).isEmpty();
    }
}
