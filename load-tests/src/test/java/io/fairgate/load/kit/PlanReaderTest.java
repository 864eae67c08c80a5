package io.fairgate.load.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.load.Parameters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a plan says, and what is said about mistakes in it. */
class PlanReaderTest {

    private static final String PLAN = """
            load: 10
            stages:
              - { for: 10s }
            tenants:
              one: { path: /a, load: 3 }
              two: { path: [/b, /c] }
            """;

    private final Path file;

    PlanReaderTest(@TempDir Path folder) {
        file = folder.resolve("test.yml");
    }

    private LoadPlan read(String text, Map<String, String> given) throws IOException {
        Files.writeString(file, text);
        return new PlanReader(new Parameters(given::get), Map.of("KEY", "a$b")::get).read(file);
    }

    private LoadPlan read(String text) throws IOException {
        return read(text, Map.of());
    }

    static Stream<Path> plansOfTheProject() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("plans"))) {
            return all.toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("plansOfTheProject")
    void the_plans_of_the_project_can_be_read(Path plan) {
        LoadPlan read = new PlanReader(new Parameters(Map.<String, String>of()::get), System::getenv).read(plan);
        assertThat(read.name() + ".yml")
                .isEqualTo(Objects.requireNonNull(plan.getFileName()).toString());
        assertThat(new Verdicts(read).sentences()).isNotEmpty();
    }

    @Test
    void what_is_missing_has_a_default() throws IOException {
        LoadPlan plan = read(PLAN);
        assertThat(plan.gateway()).hasToString("http://localhost:8080");
        assertThat(plan.management()).isNull();
        assertThat(plan.model()).isEqualTo(Model.CLOSED);
        assertThat(plan.timeout()).isEqualTo(Duration.ofSeconds(30));
        assertThat(plan.schedule().stages()).containsExactly(new Stage(1, 1, Duration.ofSeconds(10), true));
        TenantPlan two = plan.tenants().get(1);
        assertThat(two.method()).isEqualTo("GET");
        assertThat(two.paths()).containsExactly("/b", "/c");
        assertThat(two.expected()).isEqualTo(new Expected(null, 0, Set.of(), Map.of()));
    }

    @Test
    void everything_can_be_said() throws IOException {
        LoadPlan plan = read("""
                gateway: http://127.0.0.1:9000
                management: http://127.0.0.1:9001
                model: open
                load: 100
                timeout: 2s
                pause: 10ms
                pause-after-refusal: 1s
                failed: 0.5
                tolerance: 5
                stages:
                  - { level: 0 to 50, for: 1m, measured: false }
                  - { level: 50, for: 1h }
                tenants:
                  one:
                    headers: { X-API-Key: "${KEY}", Accept: text/plain }
                    path: /a
                    method: PUT
                    body: "{}"
                    load: 2.5
                    levels: [100, 0 to 100]
                    expect: { share: 33.3, refused: 1.5, status: [200, 404], p50: 10ms, p95: 20ms, p99: 30ms, max: 1s }
                """);
        assertThat(plan.model()).isEqualTo(Model.OPEN);
        assertThat(plan.schedule().stages())
                .containsExactly(
                        new Stage(0, 0.5, Duration.ofMinutes(1), false),
                        new Stage(0.5, 0.5, Duration.ofHours(1), true));
        assertThat(plan.schedules().get(0).stages())
                .containsExactly(
                        new Stage(1, 1, Duration.ofMinutes(1), false), new Stage(0, 1, Duration.ofHours(1), true));
        assertThat(plan)
                .extracting(LoadPlan::pause, LoadPlan::pauseAfterRefusal, LoadPlan::failed, LoadPlan::tolerance)
                .containsExactly(Duration.ofMillis(10), Duration.ofSeconds(1), 0.5, 5.0);
        TenantPlan one = plan.tenants().get(0);
        assertThat(one.headers()).isEqualTo(Map.of("X-API-Key", "a$b", "Accept", "text/plain"));
        assertThat(one)
                .extracting(TenantPlan::method, TenantPlan::body, TenantPlan::load)
                .containsExactly("PUT", "{}", 2.5);
        assertThat(one.expected().share()).isEqualTo(33.3);
        assertThat(one.expected().refused()).isEqualTo(1.5);
        assertThat(one.expected().slowest())
                .isEqualTo(Map.of(
                        50, Duration.ofMillis(10),
                        95, Duration.ofMillis(20),
                        99, Duration.ofMillis(30),
                        100, Duration.ofSeconds(1)));
        assertThat(one.expected().outcomeOf(404)).isEqualTo(Outcome.ANSWERED);
        assertThat(one.expected().outcomeOf(301)).isEqualTo(Outcome.FAILED);
        assertThat(one.expected().outcomeOf(429)).isEqualTo(Outcome.REFUSED);
    }

    @Test
    void a_step_test_has_a_stage_and_a_time_to_settle_for_each_step() throws IOException {
        LoadPlan plan = read("""
                step: { connections: [1, 2, 4], for: 3s, settle: 1s }
                tenants: { one: { path: /a } }
                """);
        assertThat(plan.load()).isEqualTo(4);
        assertThat(plan.steps()).containsExactly(1, 2, 4);
        assertThat(plan.schedule().stages().stream().filter(Stage::measured).map(Stage::to))
                .containsExactly(0.25, 0.5, 1.0, 1.0, 0.5, 0.25);
        assertThat(plan.schedule().stages()).startsWith(new Stage(0.5, 0.5, Duration.ofSeconds(5), false));
        assertThat(plan.schedule().length()).isEqualTo(Duration.ofSeconds(5 + 6 * 4));
        assertThat(plan.all(3).to()).isEqualTo(2);
    }

    @Test
    void parameters_go_before_the_file() throws IOException {
        LoadPlan plan =
                read(PLAN, Map.of("gateway", "http://127.0.0.1:1", "management", "http://127.0.0.1:2", "load", "7"));
        assertThat(plan.gateway()).hasToString("http://127.0.0.1:1");
        assertThat(plan.management()).hasToString("http://127.0.0.1:2");
        assertThat(plan.load()).isEqualTo(7);
    }

    // An address of RFC 5737.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "load: 10 | load: none | :1: load: Cannot deserialize",
                "load: 10 | load: 0 | : load: 0 (expected: a whole number from 1 to 20000",
                "load: 10 | loud: 10 | : loud: unknown key (expected: one of failed, gateway, load,",
                "{ for: 10s } | { for: 10 } | :3: stages[0].for: 10 (expected: a time with its unit",
                "{ for: 10s } | { for: 10s, level: up } | :3: stages[0].level: up (expected: a percentage of the load",
                "{ for: 10s } | { level: 100 } | : stages[0]: for: nothing (expected: a time",
                "{ for: 10s } | { for: 10s, measured: false } | : stages: none is measured",
                "path: /a | path: a | : tenants.one: path: a (expected: a path, such as /orders)",
                "path: /a | path: '/#{a}' | : tenants.one: path: /#{a} (expected: a path",
                "path: /a | method: GET | : tenants.one: path: nothing (expected: one",
                "load: 3 | load: -1 | : tenants.one: load: -1.0 (expected: a number above 0",
                "load: 3 | expect: { refused: some } | : tenants.one.expect: refused: some (expected: the highest",
                "load: 3 | levels: [1, 2] | : tenants.one.levels: 2 (expected: one for each of the 1 stages)",
                "load: 3 | headers: { A: '${B}' } | : tenants.one.headers.A: the environment has no B",
                "load: 10 | load: 10.7 | :1: load: Cannot coerce",
                "load: 10 | model: 1 | :1: model: Cannot deserialize",
                "path: /a | path: &a /a | : line 5: an anchor",
                "path: /a | path: [~] | :5: tenants.one.path[0]: Invalid `null`",
                "load: 3 | expect: { status: [99] } | : tenants.one.expect: status: [99] (expected",
                "load: 3 | headers: { 'A B': x } | : tenants.one: headers: A B (expected",
                "load: 3 | headers: { A: '${NO-NAME}' } | : tenants.one.headers.A: ${NO-NAME} (expected",
                "load: 3 | expect: { share: 101 } | : tenants.one.expect: share: 101",
                "one: | all: | : tenants.all: the name (expected",
                "{ path: /a, load: 3 } | /a | :5: tenants.one: this is not what is expected",
                "load: 10 | load: 10, timeout: 0s | : timeout: 0s, or longer",
                "two: | one: | :6: tenants: Duplicate field 'one'",
                "stages: | step: { connections: [3, 2, 1] }, stages: | : step: connections: [3, 2, 1] (expected: at",
                "load: 10 | gateway: http://192.0.2.1:80 | : load: null (expected",
            })
    void a_mistake_is_named_with_its_place(String before, String after, String message) {
        String text = PLAN.replace(before, after.replace(", stages", "\nstages").replace(", timeout", "\ntimeout"));
        assertThat(text).isNotEqualTo(PLAN);
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(file + message);
    }

    @Test
    void a_level_does_not_exceed_the_bound_of_the_load() {
        assertThatThrownBy(() -> read(PLAN.replace("load: 10", "load: 20000").replace("10s", "10s, level: 200")))
                .hasMessage(file + ": load: 40000 with the highest level (expected: at most 20000)");
    }

    @Test
    void another_machine_is_refused() {
        assertThatThrownBy(() -> read("gateway: http://192.0.2.1:80\n" + PLAN))
                .hasMessageContaining("gateway: http://192.0.2.1:80 (expected: this machine's loopback");
    }

    @Test
    void a_file_that_is_not_there_is_named() {
        PlanReader reader = new PlanReader(new Parameters(Map.<String, String>of()::get), name -> null);
        assertThatThrownBy(() -> reader.read(Path.of("no.yml"))).hasMessageStartingWith("plan: no.yml cannot be read");
    }

    @Test
    void an_empty_file_is_no_plan() {
        for (String text : List.of("", "# nothing\n", "null\n")) {
            assertThatThrownBy(() -> read(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(file.toString());
        }
    }
}
