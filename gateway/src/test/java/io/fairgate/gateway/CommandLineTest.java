package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.start.KnownSettings;
import io.fairgate.policy.ApiKeyHash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * What the commands print, and their exit codes.
 */
@ExtendWith({OutputCaptureExtension.class, LogLevels.class})
class CommandLineTest {

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    private String file(String policy) throws IOException {
        return Files.writeString(folder.resolve("policy.yml"), policy).toString();
    }

    @Test
    void check_summarises_a_valid_policy(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        assertThat(Fairgate.run("check", file)).isZero();
        assertThat(output.getOut().strip()).isEqualTo(file + ": ok (3 members, 1 pool, 2 routes)");
    }

    @Test
    void the_sample_policy_is_valid(CapturedOutput output) throws IOException {
        assertThat(Fairgate.run("sample")).isZero();
        String file = file(output.getOut());
        assertThat(Fairgate.run("check", file)).isZero();
    }

    @Test
    void the_jar_contains_the_schema(CapturedOutput output) throws IOException {
        assertThat(Fairgate.run("sample", "--schema")).isZero();
        assertThat(output.getOut()).isEqualTo(Files.readString(Path.of("../config/fairgate.schema.json")));
    }

    @Test
    void check_names_every_mistake_with_its_line(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 0, max-wat: 2s")
                .replace("FairShare=pool", "FairShare=poool"));
        assertThat(Fairgate.run("check", file)).isEqualTo(1);
        assertThat(output.getOut().lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).startsWith(file + ":").contains(" (expected: "))
                .anySatisfy(line -> assertThat(line).contains(":12: ", "permits: 0"))
                .anySatisfy(line -> assertThat(line).contains(":12: ", "max-wat", "max-wait"))
                .anySatisfy(line -> assertThat(line).contains(":17: ", "poool"));
    }

    @Test
    void check_reports_filter_arguments_beside_other_mistakes(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 0")
                .replace(
                        "\"FairShare=pool\" ]", "\"FairShare=pool\", \"RequestSize=1KB\", \"AddRequestHeadr=X, Y\" ]"));
        assertThat(Fairgate.run("check", file)).isEqualTo(1);
        assertThat(output.getOut().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .isEqualTo(file + ":12: pools.pool.permits: 0 (expected: 1 to 1000000)"),
                        line -> assertThat(line)
                                .isEqualTo(
                                        file + ":17: routes[0].filters[1]: RequestSize: 1KB would be ignored"
                                                + " (expected: RequestSize without arguments, or the long form with name and args)"),
                        line -> assertThat(line)
                                .startsWith(file + ":17: routes[0].filters[2]: unknown filter \"AddRequestHeadr\"")
                                .endsWith("; did you mean AddRequestHeader?)"));
        assertThat(output.getErr()).isEmpty();
    }

    @Test
    void check_reports_an_ignored_argument_once(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1")
                .replace("[ \"FairShare=pool\" ]", """

                              - name: Cost
                                args:
                                  units: 2
                                  trustd-from: 10.0.0.0/8
                        """.stripTrailing()));
        assertThat(Fairgate.run("check", file)).isEqualTo(1);
        assertThat(output.getOut().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith(file + ":21: routes[0].filters[0].args.trustd-from: unknown key")
                                .endsWith("; did you mean trusted-from?)"),
                        line -> assertThat(line)
                                .startsWith(file + ":17: routes[0].filters: warning: no FairShare, so these requests"));
    }

    /** The first word decides which command is built; its help names it. */
    @Test
    void every_command_that_help_lists_has_that_name(CapturedOutput output) {
        Fairgate.run("--help");
        List<String> names = output.getOut()
                .lines()
                .dropWhile(line -> !line.equals("Commands:"))
                .filter(line -> line.matches("  [a-z].*"))
                .map(line -> line.strip().split(" ", 2)[0])
                .toList();
        assertThat(names).hasSize(15).contains("serve", "throttle", "start-cache");
        for (String name : names) {
            assertThat(Fairgate.run(name, "--help")).isZero();
            assertThat(output.getOut()).contains("Usage: fairgate " + name + " ");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --spring.data.redis.timeout=1s            | timeout: unknown setting
            --spring.data.redis.ssl.bundle=none       | there is no such bundle
            --fairgate.redis.outage=reserve           | fairgate.redis.gateways: missing
            """)
    void check_finds_mistakes_in_the_settings_of_redis(String option, String message, CapturedOutput output)
            throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        assertThat(Fairgate.run("check", file, "--fairgate.backend=redis", option))
                .isEqualTo(1);
        assertThat(output.getErr()).contains(message);
    }

    @Test
    void check_does_not_connect_to_redis() throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        try (ServerSocket redis = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            assertThat(Fairgate.run(
                            "check",
                            file,
                            "--fairgate.backend=redis",
                            "--spring.data.redis.host=127.0.0.1",
                            "--spring.data.redis.port=" + redis.getLocalPort()))
                    .isZero();
            redis.setSoTimeout(500);
            assertThatThrownBy(redis::accept).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void check_finds_mistakes_in_the_settings_of_leases_and_opens_no_port(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        try (ServerSocket taken = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            assertThat(Fairgate.run(
                            "check",
                            file,
                            "--fairgate.leases.enabled=true",
                            "--fairgate.leases.address=127.0.0.1",
                            "--fairgate.leases.port=" + taken.getLocalPort()))
                    .isZero();
        }
        assertThat(Fairgate.run(
                        "check",
                        file,
                        "--fairgate.leases.throttle.enabled=true",
                        "--fairgate.leases.throttle.default-tenant=unlisted"))
                .isEqualTo(1);
        assertThat(output.getErr()).contains("fairgate.leases.throttle.default-tenant");
    }

    @Test
    void a_demo_does_not_need_the_redis_of_its_settings() {
        assertThat(Fairgate.run(
                        "demo",
                        "--exit",
                        "--quiet-seconds=1",
                        "--noisy-seconds=1",
                        "--server.port=0",
                        "--management.server.port=0",
                        "--fairgate.backend=redis",
                        "--fairgate.redis.outage=reserve",
                        "--fairgate.redis.gateways=2"))
                .isZero();
    }

    @Test
    void check_warns_of_unusual_settings(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 8")
                .replace("a: { plan: plan }", "a: { plan: plan, reserved: 5 }")
                .replace("[127.0.0.0/8]", "[127.0.0.0/8, 0.0.0.0/0]"));
        String pool = "--spring.cloud.gateway.server.webflux.httpclient.pool.";
        assertThat(Fairgate.run("check", file, pool + "type=fixed", pool + "max-connections=7"))
                .isZero();
        assertThat(output.getOut().lines())
                .containsExactly(
                        file
                                + ":4: tenants.identify[0].trusted-from[1]: warning: these networks cover every address, so any"
                                + " client can send this header and choose its tenant",
                        file
                                + ":12: pools.pool.permits: warning: 5 of 8 are reserved, and idle while their tenants are"
                                + " idle; guaranteed permits are lent to other tenants meanwhile",
                        file + ":14: routes[0].uri: warning: 8 permits of pool for 127.0.0.1:9, but at most 7"
                                + " connections to it"
                                + " (spring.cloud.gateway.server.webflux.httpclient.pool.max-connections)",
                        file + ": ok (3 members, 1 pool, 2 routes)");
    }

    /** Each instance has connections of its own. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    permits: 15                       | 7 | 15 permits of pool for upstream many, but at most 14 connections to it
                    permits: 14                       | 7 |
                    permits: 7, per-instance-of: many | 7 | 21 permits of pool for upstream many, but at most 14 connections to it
                    permits: 7, per-instance-of: many | 11 |""")
    void check_warns_of_too_few_connections_to_instances(
            String pool, int connections, @Nullable String warning, CapturedOutput output) throws IOException {
        String uris = "uris: [ \"http://127.0.0.1:9\", { uri: \"http://127.0.0.1:10\", weight: 2 } ]";
        String policy = TestPolicy.onePool("http://127.0.0.1:9", pool)
                .replace("routes:", "upstreams: { many: { %s } }\nroutes:".formatted(uris))
                .replaceFirst("uri: http://127.0.0.1:9\n", "upstream: many\n");
        String settings = "--spring.cloud.gateway.server.webflux.httpclient.pool.";
        assertThat(Fairgate.run(
                        "check", file(policy), settings + "type=fixed", settings + "max-connections=" + connections))
                .isZero();
        if (warning == null) {
            assertThat(output.getOut()).doesNotContain("warning");
        } else {
            assertThat(output.getOut()).contains(":15: routes[0].upstream: warning: " + warning);
        }
    }

    @Test
    void check_warns_about_the_old_spelling_of_an_argument(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1")
                .replace("[ \"FairShare=pool\" ]", "[ { name: FairShare, args: { pool: pool, maxHold: 5s } } ]"));
        assertThat(Fairgate.run("check", file)).isZero();
        assertThat(output.getOut().lines())
                .containsExactly(
                        file + ":17: routes[0].filters[0].args.maxHold: warning: old spelling, which still works; use"
                                + " max-hold",
                        file + ": ok (3 members, 1 pool, 2 routes)");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    0     | :15: routes[0].uri: warning: 8 permits of pool for
                    first | :15: routes[0].order: first (expected: a whole number""")
    void check_reports_warnings_beside_mistakes(String order, String more, CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 8")
                .replace("a: { plan: plan }", "a: { plan: plan, reserved: 5 }")
                .replace("pools:", "pools:\n  small: { permits: 4 }")
                .replace("[127.0.0.0/8]", "[127.0.0.0/8, '::/0']")
                .replace("id: fair", "order: %s\n    id: fair".formatted(order)));
        String pool = "--spring.cloud.gateway.server.webflux.httpclient.pool.";
        assertThat(Fairgate.run("check", file, pool + "type=fixed", pool + "max-connections=7"))
                .isEqualTo(1);
        assertThat(output.getOut().lines())
                .hasSize(4)
                .allSatisfy(line -> assertThat(line).startsWith(file + ":"))
                .anySatisfy(line -> assertThat(line).contains(":12: pools.small.permits: 4 (expected: "))
                .anySatisfy(line -> assertThat(line).contains(":4: tenants.identify[0].trusted-from[1]: warning: "))
                .anySatisfy(line -> assertThat(line).contains(":13: pools.pool.permits: warning: 5 of 8 are "))
                .anySatisfy(line -> assertThat(line).contains(more));
    }

    @Test
    void check_of_a_missing_file_is_a_mistake_without_a_stack_trace(CapturedOutput output) {
        String file = folder.resolve("absent.yml").toString();
        assertThat(Fairgate.run("check", file)).isEqualTo(1);
        assertThat(output.getAll().strip())
                .startsWith(file + ":1: file: no such file (expected: a policy file")
                .hasLineCount(1);
    }

    @Test
    void check_and_demo_do_not_touch_the_files_of_a_running_gateway() throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        Path logs = Files.createDirectory(folder.resolve("logs"));
        String[] serving = {
            "--fairgate.log-files.directory=" + logs,
            "--fairgate.access-log=true",
            "--fairgate.quotas.journal=" + logs.resolve("usage"),
            "--logging.level.io.fairgate=info",
            "--server.port=0",
            "--management.server.port=0"
        };
        assertThat(run(serving, "check", file)).isZero();
        assertThat(run(serving, "demo", "--exit", "--quiet-seconds=1", "--noisy-seconds=1"))
                .isZero();
        assertThat(logs).isEmptyDirectory();
    }

    private static int run(String[] options, String... command) {
        return Fairgate.run(Stream.of(command, options).flatMap(Stream::of).toArray(String[]::new));
    }

    @Test
    void serve_with_a_missing_log_directory_names_the_property(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        String absent = folder.resolve("absent").toString();
        assertThat(Fairgate.run("--config=" + file, "--fairgate.log-files.directory=" + absent))
                .isEqualTo(1);
        assertThat(output.getErr())
                .contains("fairgate.log-files.directory", absent, "a directory that exists")
                .doesNotContain("\tat ");
        assertThat(output.getOut()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve --config", "check", "demo"})
    void an_unknown_setting_is_refused_with_the_nearest_known_one(String command, CapturedOutput output)
            throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"));
        String[] words = (command.equals("demo") ? command : command + " " + file).split(" ");
        String[] settings = {
            "--fairgate.log-files.dir=/tmp",
            "--fairgate.quotas.jurnal=usage",
            "--fairgate.drainTime=1s",
            "--fairgate.watch-policy=0s",
            "--fairgate.policy.enabled=false",
            "--fairgate.log-files=",
            "--server.port=0",
            "--management.server.port=0"
        };
        assertThat(run(settings, words)).isEqualTo(1);
        assertThat(output.getErr().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("fairgate.log-files.dir: unknown setting (expected: one of access-log, ")
                                .endsWith("; did you mean log-files.directory?)"),
                        line -> assertThat(line)
                                .as("the policy of the program is in a file")
                                .startsWith("fairgate.policy.enabled: unknown setting "),
                        line -> assertThat(line)
                                .startsWith("fairgate.quotas.jurnal: unknown setting ")
                                .endsWith("; did you mean quotas.journal?)"));
    }

    @Test
    void the_operators_page_lists_exactly_the_known_settings(CapturedOutput output) throws IOException {
        String page = Files.readString(Path.of("../docs/configure.md"));
        List<String> told = Pattern.compile("(?m)^\\| `fairgate\\.([a-z.-]+)` \\|")
                .matcher(page)
                .results()
                .map(row -> row.group(1))
                .sorted()
                .toList();
        assertThat(Fairgate.run("check", "x.yml", "--fairgate.x=1")).isEqualTo(1);
        assertThat(output.getErr().strip())
                .startsWith("fairgate.x: unknown setting (expected: one of " + told.get(0) + ", " + told.get(1));
        assertThat(KnownSettings.names()).isEqualTo(told);
    }

    @Test
    void check_requires_a_file(CapturedOutput output) {
        assertThat(Fairgate.run("check")).isEqualTo(2);
        assertThat(output.getErr()).contains("FILE", "Usage: fairgate check");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", ""})
    void serve_without_a_policy_says_how_to_make_one(String command, CapturedOutput output) {
        // Tests run in a folder without fairgate.yml.
        assertThat(command.isEmpty() ? Fairgate.run() : Fairgate.run(command)).isEqualTo(1);
        assertThat(output.getAll().strip().lines())
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith("There is no policy file ./fairgate.yml: ")
                        .contains("sample > fairgate.yml", "--config FILE", "FAIRGATE_CONFIG"));
    }

    @Test
    void serve_with_an_invalid_policy_lists_every_mistake_and_starts_nothing(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 0, max-wait: soon"));
        assertThat(Fairgate.run("serve", "--config", file)).isEqualTo(1);
        assertThat(output.getErr().lines())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).startsWith(file + ":12: "));
        assertThat(output.getOut()).isEmpty();
    }

    @Test
    void serve_with_invalid_routes_reports_them_without_a_stack_trace(CapturedOutput output) throws IOException {
        String file = file(TestPolicy.onePool("http://127.0.0.1:9", "permits: 1")
                .replace("\"FairShare=pool\"", "SetStatus=many, StripPrefix=two"));
        assertThat(Fairgate.run("--config=" + file)).isEqualTo(1);
        assertThat(output.getAll())
                .contains(file + ":17: routes[0].filters[0]: SetStatus: ")
                .contains(file + ":17: routes[0].filters[1]: StripPrefix: For input string: \"two\"")
                .doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--confg=x.yml", "--port=9000", "-x", "extra"})
    void an_unknown_option_is_refused(String option, CapturedOutput output) {
        assertThat(Fairgate.run("serve", option)).isEqualTo(2);
        assertThat(output.getErr()).contains(option).doesNotContain("There is no policy");
    }

    @Test
    void a_new_key_is_printed_with_its_digest_for_the_policy(CapturedOutput output) {
        assertThat(Fairgate.run("api-key")).isZero();
        List<String> lines = output.getOut().lines().toList();
        String key = lines.get(0).substring(lines.get(0).lastIndexOf(' ') + 1);
        assertThat(key).matches("fg_[A-Za-z0-9_-]{43}");
        assertThat(lines.get(1)).endsWith("api-keys: [ \"" + ApiKeyHash.of(key).text() + "\" ]");
        assertThat(lines.get(2)).endsWith(" " + ApiKeyHash.of(key).id());
        assertThat(Fairgate.run("api-key")).isZero();
        assertThat(output.getOut().lines().skip(3).findFirst())
                .isPresent()
                .hasValueSatisfying(line -> assertThat(line).doesNotContain(key));
    }

    @Test
    void an_existing_key_is_read_and_not_shown(CapturedOutput output) {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream("abc\n".getBytes(StandardCharsets.UTF_8)));
            assertThat(Fairgate.run("api-key", "--stdin")).isEqualTo(1);
            System.setIn(new ByteArrayInputStream("0123456789abcdefghijkl\n".getBytes(StandardCharsets.UTF_8)));
            assertThat(Fairgate.run("api-key", "--stdin")).isZero();
        } finally {
            System.setIn(before);
        }
        assertThat(output.getErr()).contains("3 characters (expected: at least 22");
        assertThat(output.getOut())
                .contains(ApiKeyHash.of("0123456789abcdefghijkl").text())
                .doesNotContain("0123456789abcdefghijkl");
    }

    @Test
    void an_unknown_command_is_refused_with_the_nearest_known_one(CapturedOutput output) {
        assertThat(Fairgate.run("chek", "x.yml")).isEqualTo(2);
        assertThat(output.getErr()).contains("chek", "check");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --help    | Usage: fairgate [-hV] [COMMAND]
                    -h        | Usage: fairgate [-hV] [COMMAND]
                    --version | fairgate (built from source)
                    -V        | fairgate (built from source)""")
    void help_and_version_are_answered_without_serving(String option, String begin, CapturedOutput output) {
        assertThat(Fairgate.run(option)).isZero();
        assertThat(output.getOut()).startsWith(begin);
        assertThat(output.getErr()).isEmpty();
    }
}
