package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.FairgateProcess.Started;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The command line: the source of the policy, Spring's options, and the messages for mistakes. */
class ServeIT {

    private final Path folder;

    @RegisterExtension
    final FairgateProcess fairgate = new FairgateProcess();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    ServeIT(@TempDir Path folder) {
        this.folder = folder;
    }

    private String policy() {
        return TestPolicy.onePool(upstream.url(), "permits: 2");
    }

    private static void assertAnswers(Started gateway) throws Exception {
        try (RawClient client = new RawClient(gateway.port())) {
            assertThat(client.get("/fair/1", "a").readUntil("ok")).startsWith("HTTP/1.1 200");
        }
    }

    private static void assertNoStackTrace(Started process) {
        assertThat(process.out() + process.err()).doesNotContain("\tat ").doesNotContain("Exception");
    }

    @Test
    void without_a_policy_one_sentence_says_how_to_make_one() throws Exception {
        Started process = fairgate.start(folder);
        assertThat(process.awaitExit()).isOne();
        assertThat(process.err().lines())
                .singleElement()
                .satisfies(sentence -> assertThat(sentence)
                        .contains("./fairgate.yml", "--config", "FAIRGATE_CONFIG")
                        .doesNotContain("config/"));
        assertThat(process.out()).isEmpty();
    }

    @Test
    void serve_and_check_report_all_mistakes_of_a_policy() throws Exception {
        String broken = policy().replace("permits:", "permitz:").replace("trusted-from:", "trustedfrom:");
        Files.writeString(folder.resolve("broken.yml"), broken);
        Started serve = fairgate.start(folder, "serve", "--config", "broken.yml");
        Started check = fairgate.start(folder, "check", "broken.yml");
        assertThat(serve.awaitExit()).isOne();
        assertThat(serve.err().lines())
                .hasSize(2)
                .allMatch(line -> line.matches("broken\\.yml:\\d+: [\\w.\\[\\]-]+: .* \\(expected: .*\\)"))
                .anyMatch(line -> line.contains("did you mean trusted-from?"))
                .anyMatch(line -> line.contains("did you mean permits?"));
        assertNoStackTrace(serve);
        assertThat(check.awaitExit()).isOne();
        assertThat(check.out()).isEqualTo(serve.err());
    }

    @Tag("long")
    @Test
    void a_valid_policy_passes_the_check() throws Exception {
        Files.writeString(folder.resolve("sound.yml"), policy());
        Started check = fairgate.start(folder, "check", "sound.yml");
        assertThat(check.awaitExit()).isZero();
        assertThat(check.out()).startsWith("sound.yml: ok");
    }

    @Tag("long")
    @Test
    void an_invalid_route_is_reported_with_its_line() throws Exception {
        Started process = fairgate.serve(folder, policy().replace("FairShare=pool", "FairShare=pool,1,2s,4"));
        assertThat(process.awaitExit()).isOne();
        assertThat(process.err().lines())
                .singleElement()
                .satisfies(
                        line -> assertThat(line)
                                .matches(
                                        "fairgate\\.yml:\\d+: routes\\[0]\\.filters\\[0]: \"FairShare=pool,1,2s,4\" .*expected: FairShare=pool,permits,max-hold\\)"));
        assertThat(process.out()).isEmpty();
    }

    @Tag("long")
    @Test
    void a_misspelt_option_is_not_passed_to_spring() throws Exception {
        List<Started> processes = List.of(
                fairgate.start(folder, "--confg=x"),
                fairgate.start(folder, "serve", "-x"),
                fairgate.start(folder, "demo", "--ex"),
                fairgate.start(folder, "check"),
                fairgate.start(folder, "demo", "--quiet-seconds", "0"));
        for (Started process : processes) {
            assertThat(process.awaitExit()).as(process.err()).isEqualTo(2);
            assertThat(process.err()).contains("Usage: fairgate");
            assertNoStackTrace(process);
        }
        assertThat(processes.get(0).err()).startsWith("--confg=x: unknown option (expected: ");
    }

    @Tag("long")
    @Test
    void help_and_version_are_printed() throws Exception {
        Started help = fairgate.start(folder, "--help");
        Started version = fairgate.start(folder, "--version");
        Started serveVersion = fairgate.start(folder, "serve", "--version");
        assertThat(help.awaitExit()).isZero();
        assertThat(help.out()).startsWith("Usage: fairgate").contains("serve", "demo", "check");
        assertThat(version.awaitExit()).isZero();
        assertThat(version.out()).matches("fairgate \\d+\\.\\d+\\.\\d+\\S*\\R");
        assertThat(serveVersion.awaitExit()).isZero();
        assertThat(serveVersion.out()).isEqualTo(version.out());
    }

    @Test
    void the_policy_of_the_current_folder_is_served_and_the_log_describes_it() throws Exception {
        Started gateway = fairgate.serve(folder, policy());
        assertAnswers(gateway);
        assertThat(gateway.out().lines().map(line -> line.replaceFirst(".* : ", "")))
                .hasSize(4)
                .contains(
                        "Policy fairgate.yml: 3 members, 1 pool, 2 routes",
                        "Pool pool: 2 permits, at most 1000 waiting, for at most 2s",
                        "Routes: fair, plain");
        assertThat(gateway.err()).isEmpty();
    }

    @Tag("long")
    @Test
    void the_environment_names_the_policy_and_options_override_application_yml() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("a.yml"), policy());
        Files.writeString(folder.resolve("application.yml"), """
                server: { address: 127.0.0.1, port: 1 }
                management: { server: { port: 0 } }
                """);
        Started gateway = fairgate.start(
                folder, Map.of("FAIRGATE_CONFIG", elsewhere.resolve("a.yml").toString()), "serve", "--server.port=0");
        assertAnswers(gateway);
        assertThat(gateway.out())
                .contains("elsewhere/a.yml: 3 members")
                .doesNotContain("Requests go through Spring's handling first");
    }

    @Tag("long")
    @Test
    void the_option_overrides_the_environment_and_a_port_in_use_is_one_sentence() throws Exception {
        Files.writeString(folder.resolve("right.yml"), policy());
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Started process = fairgate.start(
                    folder,
                    Map.of("FAIRGATE_CONFIG", "no-such-file.yml"),
                    "--config",
                    "right.yml",
                    "--server.address=127.0.0.1",
                    "--server.port=" + taken.getLocalPort(),
                    "--management.server.port=0");
            assertThat(process.awaitExit()).isOne();
            assertThat(process.err().lines())
                    .singleElement()
                    .satisfies(sentence -> assertThat(sentence)
                            .startsWith("Cannot bind port " + taken.getLocalPort() + " (address in use)")
                            .contains("--server.port", "--management.server.port"));
            assertNoStackTrace(process);
        }
    }
}
