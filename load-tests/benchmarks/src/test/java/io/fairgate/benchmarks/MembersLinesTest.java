package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MembersLinesTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "members-performance.md");

    @Test
    void the_page_in_the_docs_has_the_lines_of_the_code() throws IOException {
        String page = Files.readString(REPORT);

        assertThat(MembersLines.all()).allSatisfy(line -> assertThat(page).contains("| " + line.name() + " | "));
    }

    @Test
    void the_median_of_the_ratios_of_all_rounds_counts() {
        assertThat(row(new FewAndMany(100, 50), new FewAndMany(200, 216), new FewAndMany(50, 100)))
                .isEqualTo("| a step | 100 ns | 100 ns | **1.08** (0.50 to 2.00) | yes |\n");
    }

    @Test
    void an_operation_that_costs_over_a_tenth_more_with_many_members_misses_the_target() {
        assertThat(row(new FewAndMany(200_000, 220_000)))
                .isEqualTo("| a step | 200 µs | 220 µs | **1.10** (1.10 to 1.10) | yes |\n");
        assertThat(row(new FewAndMany(2_000_000, 2_210_000)))
                .isEqualTo("| a step | 2.0 ms | 2.2 ms | **1.11** (1.11 to 1.11) | **no** |\n");
    }

    private static String row(FewAndMany... rounds) {
        return MembersLines.row("a step", List.of(rounds));
    }
}
