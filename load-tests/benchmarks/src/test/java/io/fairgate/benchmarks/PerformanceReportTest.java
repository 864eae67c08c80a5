package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PerformanceReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "performance.md");

    private static final MemoryUse SMALL = new MemoryUse(100, 500, 100, 400, 72);

    @Test
    void the_report_in_the_docs_has_the_lines_of_the_code() throws IOException {
        String report = Files.readString(REPORT);

        assertThat(Lines.all())
                .allSatisfy(line -> assertThat(report).contains("| " + line.name() + " | "))
                .allSatisfy(line -> assertThat(report).contains("- **" + line.name()));
    }

    @Test
    void every_line_can_fail() {
        Set<Subject> measured = Lines.all().stream().map(Line::measured).collect(Collectors.toSet());
        assertThat(report(subject -> measured.contains(subject) ? 1.0 : 2.0, SMALL))
                .doesNotContain("**no**");
        for (Line line : Lines.all()) {
            String slow = report(subject -> subject.equals(line.measured()) ? 7.0 : 2.0, SMALL);

            assertThat(slow.lines().filter(row -> row.startsWith("| " + line.name() + " | ")))
                    .allMatch(row -> row.endsWith("| **no** |") == (line.limit() < Line.NO_LIMIT));
        }
    }

    @Test
    void memory_can_fail() {
        assertThat(report(subject -> 1.0, new MemoryUse(251, 500, 100, 400, 72)))
                .contains("| 251 | at most 250 | **no** |");
        assertThat(report(subject -> 1.0, new MemoryUse(100, 1000, 25, 400, 72)))
                .contains("| 1025 | at most 1024 | **no** |");
        assertThat(report(subject -> 1.0, new MemoryUse(100, 500, 100, 400, 64)))
                .contains("| 72 | at most the handle: 64 | **no** |");
    }

    private static String report(Function<Subject, Double> nanos, MemoryUse memory) {
        Map<Subject, List<Cost>> costs = Rounds.subjects(Lines.all()).stream()
                .collect(Collectors.toMap(subject -> subject, s -> List.of(new Cost(nanos.apply(s), 72, 2))));
        return PerformanceReport.write(Lines.all(), costs, memory, "a machine");
    }
}
