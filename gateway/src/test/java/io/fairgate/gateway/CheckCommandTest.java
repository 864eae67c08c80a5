package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.spring.policyfile.PolicySource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code check} with several files, in each format, and strict. */
@ExtendWith({OutputCaptureExtension.class, LogLevels.class})
class CheckCommandTest {

    private static final String GOOD = TestPolicy.onePool("http://127.0.0.1:9", "permits: 8");
    private static final String WARNED = GOOD.replace("plan: {}", "plan: {}\n    gold: {}");
    private static final String BAD = GOOD.replace("permits: 8", "permits: 0");
    private static final String WARNING = "tenants.plans.gold: warning: no tenant has this plan";

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    private String file(String name, String policy) throws IOException {
        return Files.writeString(folder.resolve(name), policy).toString();
    }

    @Test
    void each_file_is_checked_on_its_own(CapturedOutput output) throws IOException {
        String good = file("good.yml", GOOD);
        String bad = file("bad.yml", BAD);
        String other =
                file("other.yml", GOOD.replace("pool: {", "other: {").replace("FairShare=pool", "FairShare=other"));
        String missing = folder.resolve("missing.yml").toString();
        assertThat(Fairgate.run("check", good, bad, other, missing, good)).isEqualTo(1);
        assertThat(output.getOut().lines())
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo(good + ": ok (3 members, 1 pool, 2 routes)"),
                        line -> assertThat(line).isEqualTo(bad + ":12: pools.pool.permits: 0 (expected: 1 to 1000000)"),
                        line -> assertThat(line).isEqualTo(other + ": ok (3 members, 1 pool, 2 routes)"),
                        line -> assertThat(line).startsWith(missing + ":1: file: no such file (expected: "),
                        line -> assertThat(line).isEqualTo(good + ": ok (3 members, 1 pool, 2 routes)"));
        assertThat(Fairgate.run("check", good, other)).isZero();
    }

    @Test
    void a_strict_check_refuses_warnings(CapturedOutput output) throws IOException {
        String warned = file("warned.yml", WARNED);
        assertThat(Fairgate.run("check", warned)).isZero();
        assertThat(output.getOut().lines())
                .containsExactly(warned + ":7: " + WARNING, warned + ": ok (3 members, 1 pool, 2 routes)");
        assertThat(Fairgate.run("check", "--strict", warned)).isEqualTo(1);
        assertThat(output.getOut().lines().skip(2))
                .containsExactly(
                        warned + ":7: " + WARNING, warned + ": 1 warning (expected: none, because of --strict)");
        assertThat(Fairgate.run("check", "--strict", file("good.yml", GOOD))).isZero();
    }

    @Test
    void the_results_are_one_object_for_programs(CapturedOutput output) throws IOException {
        String bad = file("bad.yml", BAD.replace("FairShare=pool", "FairShar=pool"));
        String warned = file("warned.yml", WARNED);
        assertThat(Fairgate.run("check", "--format=json", bad, warned)).isEqualTo(1);
        JsonNode files = JsonMapper.shared().readTree(output.getOut()).get("files");
        assertThat(files).hasSize(2);
        assertThat(files.get(0).get("file").stringValue()).isEqualTo(bad);
        assertThat(files.get(0).get("accepted").booleanValue()).isFalse();
        assertThat(files.get(0).get("contents").stringValue()).isEmpty();
        assertThat(files.get(0).get("mistakes")).hasSize(2);
        assertThat(files.get(0).get("mistakes").get(0))
                .hasToString(
                        "{\"line\":12,\"key\":\"pools.pool.permits\",\"found\":\"0\",\"expected\":\"1 to 1000000\"}");
        assertThat(files.get(0).at("/mistakes/1/found").stringValue()).isEqualTo("unknown filter \"FairShar\"");
        assertThat(files.get(1).get("accepted").booleanValue()).isTrue();
        assertThat(files.get(1).get("contents").stringValue()).isEqualTo("3 members, 1 pool, 2 routes");
        assertThat(files.get(1).get("mistakes")).isEmpty();
        assertThat(files.get(1).get("warnings").get(0))
                .hasToString("{\"line\":7,\"key\":\"tenants.plans.gold\",\"text\":\"no tenant has this plan\"}");
    }

    @Test
    void the_results_are_annotations_of_a_workflow(CapturedOutput output) throws IOException {
        String bad = file(
                "b,a:d%.yml",
                BAD.replace("plan: {}", "plan: {}\n    \"50%\": {}")
                        .replace("\"Path=/fair/**\"", "Path=/fair/**, Method=GTE"));
        String warned = file("warned.yml", WARNED);
        assertThat(Fairgate.run("check", "--format", "github", bad, warned)).isEqualTo(1);
        String escaped = bad.replace("%", "%25").replace(":", "%3A").replace(",", "%2C");
        assertThat(output.getOut().lines())
                .containsExactly(
                        "::error file=" + escaped + ",line=7,title=tenants.plans.50%25::not a name (expected: 1 to 64"
                                + " characters of [A-Za-z0-9._-], the first not _)",
                        "::error file=" + escaped + ",line=13,title=pools.pool.permits::0 (expected: 1 to 1000000)",
                        "::warning file=" + escaped + ",line=17,title=routes[0].predicates[1]::GTE is not a registered"
                                + " method of HTTP; did you mean GET?",
                        "::warning file=" + warned + ",line=7,title=tenants.plans.gold::no tenant has this plan");
        assertThat(Fairgate.run("check", "--format=GitHub", "--strict", warned)).isEqualTo(1);
        assertThat(output.getOut().lines().skip(4))
                .containsExactly(
                        "::error file=" + warned + ",line=7,title=tenants.plans.gold::no tenant has this plan");
    }

    @Test
    void an_unknown_format_is_refused_with_the_known_ones(CapturedOutput output) throws IOException {
        assertThat(Fairgate.run("check", "--format=xml", file("good.yml", GOOD)))
                .isEqualTo(2);
        assertThat(output.getErr()).contains("xml", "--format", "TEXT, JSON, GITHUB");
    }

    /** A gateway with this setting does not start. */
    private static int checkWithBadSetting(String... files) {
        System.setProperty("fairgate.backend", "nonsense");
        try {
            return Fairgate.run(
                    Stream.concat(Stream.of("check"), Arrays.stream(files)).toArray(String[]::new));
        } finally {
            System.clearProperty("fairgate.backend");
        }
    }

    @Test
    void the_gateway_is_not_built_when_it_would_find_no_other_mistakes(CapturedOutput output) throws IOException {
        String bad = file("bad.yml", BAD);
        assertThat(checkWithBadSetting(bad, bad)).isEqualTo(1);
        assertThat(output.getOut().lines()).hasSize(2);
        assertThat(output.getErr()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"FairShar=pool", "{ name: FairShar }"})
    void the_gateway_is_built_when_it_may_find_other_mistakes(String filter, CapturedOutput output) throws IOException {
        String unknown = file("unknown.yml", BAD.replace("\"FairShare=pool\"", filter));
        assertThat(checkWithBadSetting(file("bad.yml", BAD), unknown)).isEqualTo(1);
        assertThat(output.getErr()).contains("fairgate.backend");
        assertThat(output.getOut()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"'', 1", "--fairgate.leases.enabled=true, 0", "--fairgate.leases.throttle.enabled=true, 0"})
    void a_pool_that_no_route_uses_is_for_leases(String option, int warnings, CapturedOutput output)
            throws IOException {
        String file = file("lonely.yml", GOOD.replace("pools:", "pools:\n  lonely: { permits: 4 }"));
        assertThat(option.isEmpty() ? Fairgate.run("check", file) : Fairgate.run("check", file, option))
                .isZero();
        assertThat(
                        output.getOut()
                                .lines()
                                .filter(
                                        line -> line.equals(
                                                file
                                                        + ":12: pools.lonely: warning: no route uses this pool, and leases are off (fairgate.leases.enabled)")))
                .hasSize(warnings);
        assertThat(output.getOut().lines()).hasSize(warnings + 1);
    }

    @Test
    void a_check_does_not_wait_for_requests_that_cannot_come() {
        PolicySource none = new PolicySource("none", PolicyFile.NOTHING, null);
        try (ConfigurableApplicationContext gateway =
                new GatewayRun(none).startWithoutServing("--fairgate.shutdown-grace=1h")) {
            assertThat(gateway.getEnvironment().getProperty("fairgate.shutdown-grace"))
                    .isEqualTo("0s");
        }
    }

    @Test
    void what_was_filled_in_is_not_shown(CapturedOutput output) throws IOException {
        Files.writeString(folder.resolve("secret"), "s3cr3t, t0ken");
        String file = file(
                "secrets.yml",
                GOOD.replace("\"FairShare=pool\"", "FairShare=pool, \"AddRequestHeader=X,a,${file:./secret}\"")
                        .replace(
                                "uri: http://127.0.0.1:9\n    predicates: [ \"Path=/plain/**\" ]",
                                "uri: \"http://u:${file:./secret}@h\"\n    predicates: [ \"Path=${file:./secret}\" ]"));
        assertThat(Fairgate.run("check", file)).isEqualTo(1);
        assertThat(output.getOut().lines()).hasSizeGreaterThan(2);
        assertThat(output.getAll()).doesNotContain("s3cr3t").doesNotContain("t0ken");
    }
}
