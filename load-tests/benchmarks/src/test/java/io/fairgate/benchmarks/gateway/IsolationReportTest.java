package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.gateway.Isolation.IsolationSample;
import io.fairgate.benchmarks.gateway.Isolation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class IsolationReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "gateway-isolation.md");

    private static final Schedule SCHEDULE = new Schedule(3, 3, Duration.ofSeconds(10), 10, 30_000, false);

    /** The quiet tenant gets this many requests beside the noisy one, and 160 alone. */
    private static IsolationSample sample(double requests) {
        return new IsolationSample(
                new Tenant(160, 51, 52, 53, 0),
                new Tenant(requests, 61, 62, 63, 7),
                new Tenant(480, 600, 610, 620, 1234),
                0.954,
                32,
                0.1);
    }

    private static String report(double... requests) {
        Samples<IsolationSample> samples = new Samples<>();
        for (double each : requests) {
            Isolation.PEERS.forEach(peer -> samples.add(peer, sample(each)));
        }
        return new IsolationReport("Measured on this", SCHEDULE, samples).text();
    }

    /** The page without the parts that depend on the machine. */
    private static String form(String page) {
        return page.replaceAll("Measured on [^|]*?\n\n", "machine\n\n")
                .replaceAll("[*]*(\\d[\\d,.]*\\b)( %[*]*)?", "N");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report(150)));
    }

    @Test
    void a_row_has_what_both_tenants_got() {
        assertThat(report(80))
                .contains("| Fairgate | 61 ms (61 to 61) | 62 ms (62 to 62) | 63 ms (63 to 63) | 51 ms (51 to 51) "
                        + "| 53 ms (53 to 53) | 80 | **50 %** (50 to 50) | 7 |")
                .contains("| Fairgate | 480 | 1,234 | **95 %** (95 to 95) | 32 |");
    }

    @Test
    void the_median_of_the_rounds_counts() {
        assertThat(report(160, 16, 80)).contains("| 80 | **50 %** (10 to 100) | 7 |");
    }

    @Test
    void the_limits_of_the_other_gateways_are_the_fair_share() {
        assertThat(Isolation.FAIR_RATE).isEqualTo(320);
        assertThat(Isolation.FAIR_SHARE).isEqualTo(16);
    }
}
