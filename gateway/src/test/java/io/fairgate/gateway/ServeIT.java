package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The command line: where the policy comes from, Spring's options, and what is said when something is wrong. */
class ServeIT {

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    ServeIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private static void assertNoStackTrace(Started process) {
        assertThat(process.out() + process.err()).doesNotContain("\tat ").doesNotContain("Exception");
    }

    @Test
    void a_typo_among_the_options_is_not_taken_for_one_of_spring() throws Exception {
        List<Started> processes = List.of(
                fairgate.start(folder, "--confg=x"),
                fairgate.start(folder, "serve", "-x"),
                fairgate.start(folder, "demo", "--ex"),
                fairgate.start(folder, "check"));
        for (Started process : processes) {
            assertThat(process.awaitExit()).as(process.err()).isEqualTo(2);
            assertThat(process.err()).contains("Usage: fairgate");
            assertNoStackTrace(process);
        }
        assertThat(processes.get(0).err()).startsWith("--confg=x: unknown option (expected: ");
    }

    @Test
    void options_of_spring_are_taken() throws Exception {
        Started serve = fairgate.start(folder, "--config=none.yml", "--server.port=0", "--debug");
        assertThat(serve.awaitExit()).isOne();
        assertThat(serve.err()).startsWith("none.yml:1: file: no such file");
    }
}
