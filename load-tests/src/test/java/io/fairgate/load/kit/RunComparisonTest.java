package io.fairgate.load.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Results of runs: as a file, as a table, and compared. */
class RunComparisonTest {

    private final Path folder;

    RunComparisonTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private static Figures figures(long answered, double share, Integer p50) {
        return new Figures(
                answered,
                1,
                0,
                Map.of("200", answered, "503", 1L),
                answered / 10.0,
                answered / 10.0,
                share,
                null,
                new Figures.Millis(p50, 20, 30, 40));
    }

    private static RunResult result(Map<String, Figures> tenants) {
        Figures all = figures(100, 100, 10);
        return new RunResult(
                "test",
                "http://localhost:1",
                "closed",
                8,
                "2026-01-01T00:00:00Z",
                10,
                all,
                tenants,
                List.of(new RunResult.StageResult(0, 8, 10, true, all, tenants)),
                new RunResult.Timeline(1, Map.of("a", new long[] {1}), Map.of(), Map.of()),
                0.0,
                new Knee(8, true, false, 8),
                List.of(new Verdict("a: share", "12 %", false)));
    }

    @Test
    void a_file_has_all_of_it() throws IOException {
        Path file = folder.resolve("deep/result.json");
        RunResult result = result(Map.of("a", figures(50, 50, 10)));
        result.write(file);
        assertThat(RunResult.read(file)).usingRecursiveComparison().isEqualTo(result);
    }

    @Test
    void another_file_is_refused() throws IOException {
        Path file = Files.writeString(folder.resolve("no.json"), "{\"plan\": 1, \"other\": 2}");
        assertThatThrownBy(() -> RunResult.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageEndingWith("(expected: the result of a run)");
    }

    @Test
    void an_empty_object_is_no_result() throws IOException {
        Path file = Files.writeString(folder.resolve("empty.json"), "{}");
        assertThatThrownBy(() -> RunResult.read(file)).hasMessage(file + ": (expected: the result of a run)");
    }

    @Test
    void a_table_has_tenants_and_verdicts() {
        assertThat(new RunTable(result(Map.of("a", figures(50, 50, 10))), true).text())
                .contains(
                        "a                               50        1        0       5.0       5.0    50.0%               10      20      30")
                .contains("NO  a: share: 12 %")
                .contains("Recommended: permits: 8");
    }

    @Test
    void two_runs_are_compared_by_tenant() {
        String text = new RunComparison(
                        result(Map.of("a", figures(50, 50, 10), "gone", figures(1, 1, 1))),
                        result(Map.of("a", figures(25, 25, 40), "new", figures(1, 1, 1))))
                .text();
        assertThat(text.lines().map(line -> line.strip().replaceAll(" +", " ")))
                .contains(
                        "a: sent/s 5.0 2.5 0.50",
                        "answers/s 5.0 2.5 0.50",
                        "share of answers % 50.0 25.0 0.50",
                        "p50 ms 10 40 4.00",
                        "new: not in the run before",
                        "gone: not in the run after");
    }
}
