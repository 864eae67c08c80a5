package io.fairgate.benchmarks.start;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartTimeReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "start-time.md");

    private static final List<String> ALL = List.of(
            Starters.JVM,
            Starters.SPRING,
            Starters.SERVE,
            Starters.SERVE_CACHED,
            Starters.THROTTLE,
            Starters.THROTTLE_CACHED,
            Starters.SERVE_25,
            Starters.SERVE_25_CACHED);

    private static Starter starter(String name) {
        return new Starter(name, "This is how.", Path.of("jdk"), List.of(), "/x");
    }

    private static StartTimeReport report(List<String> names, double... seconds) {
        StartTimeReport report = new StartTimeReport("Measured on this", seconds.length);
        for (String name : names) {
            for (double each : seconds) {
                report.add(starter(name), new StartSample(each, 2 * each, 0.1));
            }
        }
        return report;
    }

    /** The part of the page that depends on the machine neither in its numbers nor in its rows. */
    private static String form(String page) {
        return page.substring(0, page.indexOf("\n- **"))
                .replaceAll("Measured on [^|]*\n\n", "machine\n\n")
                .replaceAll("[*]*(\\d[\\d,.]*\\b|yes|no)[*]*", "N");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report(ALL, 1).text()));
    }

    @Test
    void a_row_has_the_median_the_lowest_and_the_highest_and_the_ratio_of_processor_times() {
        StartTimeReport report = report(List.of(Starters.SERVE), 3, 1, 2.25);
        report.add(starter(Starters.SPRING), new StartSample(9, 9, 0));
        assertThat(report.text())
                .contains("| Fairgate serve | **2.25 s** (1.00 to 3.00) | 4.50 s (2.00 to 6.00) | 0.50 |\n");
    }

    @Test
    void a_target_is_met_up_to_its_bound_and_open_without_the_jdk_for_it() {
        List<String> without25 = ALL.subList(0, 6);
        assertThat(report(without25, 2.5).text())
                .contains("| Fairgate serve: at most 2.5 s | 2.50 s | yes |\n")
                .contains("| Fairgate throttle: at most 1.2 s | 2.50 s | **no** |\n")
                .contains("| Fairgate serve, JDK 25, start cache: at most 1.5 s | not measured | |\n");
        assertThat(report(without25, 2.6).text()).contains("| Fairgate serve: at most 2.5 s | 2.60 s | **no** |\n");
    }

    @Test
    void a_program_listens_on_the_port_of_its_command() {
        Starter starter = new Starter("any", "", Path.of("jdk"), List.of("--port=" + Starter.PORT, "x"), "/");
        assertThat(starter.command(8123))
                .containsExactly(Path.of("jdk", "bin", "java").toString(), "--port=8123", "x");
    }
}
