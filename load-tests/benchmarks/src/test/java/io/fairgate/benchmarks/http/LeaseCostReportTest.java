package io.fairgate.benchmarks.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.http.LeaseCostReport.Idle;
import io.fairgate.benchmarks.http.LeaseCostReport.Round;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaseCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "lease-performance.md");

    private static final Idle IDLE = idle(Duration.ofMillis(300));

    private static Idle idle(Duration with) {
        return new Idle(100_000, Duration.ofSeconds(20), Duration.ofMillis(200), with);
    }

    private static String report(Idle idle, Round... rounds) {
        return new LeaseCostReport("a machine", List.of(rounds), idle).text();
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        String form = form(report(IDLE, new Round(1, 1)).replace("a machine", "Measured on this"));

        assertThat(form(Files.readString(REPORT))).isEqualTo(form);
    }

    /** The page without the parts that depend on the machine. */
    private static String form(String page) {
        return page.replaceAll("Measured on .*", "machine")
                .replaceAll("[*]*(\\d[\\d,.]*\\b|yes|no)[*]*", "N")
                .replaceAll("N(, N)+", "N");
    }

    @Test
    void the_median_of_the_rounds_ratios_counts() {
        assertThat(report(IDLE, new Round(100, 50), new Round(200, 240), new Round(50, 100)))
                .contains("**1.20** leases", "(0.50, 1.20, 2.00; target: at least 1; met: yes)", "two calls | 100 |");
        assertThat(report(IDLE, new Round(100, 99))).contains("met: **no**)");
    }

    @Test
    void idle_leases_that_cost_too_much_miss_the_target() {
        assertThat(report(IDLE, new Round(1, 1)))
                .contains("without leases | 10.0 ms |", "with 100,000 held leases | 15.0 ms |", "more; met: yes.");
        assertThat(report(idle(Duration.ofMillis(301)), new Round(1, 1))).contains("more; met: **no**.");
    }
}
