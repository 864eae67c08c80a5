package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.slice.RedisCostReport.Measured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RedisCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "redis-performance.md");

    private static String report(double usual, double others, double together, double lease) {
        return new RedisCostReport(
                        5,
                        RedisCostReport.CASES.stream()
                                .map(each ->
                                        new Measured(each, each.nodes() == 10 && each.tenants() == 20 ? usual : others))
                                .toList(),
                        new RedisCostReport.OnePermit(50, together),
                        new RedisCostReport.Lease(lease, 50))
                .text();
    }

    /** The page without its measured numbers. */
    private static String form(String page) {
        return page.replaceAll("[*]*(\\b\\d+(\\.\\d+)?\\b|yes|no\\b)[*]*", "N");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report(100, 100, 45, 300)));
    }

    @Test
    void every_target_can_be_met_and_missed() {
        assertThat(report(200, 400, 40, 200))
                .contains("| 200 µs | yes |", "| 2.00 times | yes |")
                .doesNotContain("**no**");
        assertThat(report(201, 1_010, 39, 201)).contains("| 201 µs | **no** |").doesNotContain("| yes |");
    }
}
