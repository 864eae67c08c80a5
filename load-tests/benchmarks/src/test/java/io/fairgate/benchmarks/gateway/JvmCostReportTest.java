package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.gateway.JvmCost.JvmSample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JvmCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "jvm-performance.md");

    private static final Schedule SCHEDULE = new Schedule(3, 1, Duration.ofSeconds(10), 10, 30_000, false);
    private static final List<Peer> PEERS = JvmCost.peers(Optional.of(Path.of("jdk-25")));

    private static JvmSample sample(double nanos) {
        return new JvmSample(nanos, 20_000, 3, 9, 15, 400, 0.1);
    }

    private static String report(Samples<JvmSample> samples) {
        return new JvmCostReport("Measured on this", SCHEDULE, samples).text();
    }

    /** The page without the parts that depend on the machine. */
    private static String form(String page) {
        return page.replaceAll("Measured on [^|]*\n\n", "machine\n\n")
                .replaceAll("[*]*(\\d[\\d,.]*\\b)[*]*", "N")
                .replaceAll("N (ns|µs|ms)", "N time");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        Samples<JvmSample> samples = new Samples<>();
        PEERS.forEach(peer -> samples.add(peer, sample(100_000)));

        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report(samples)));
    }

    @Test
    void each_variant_is_compared_with_the_choice_of_the_JVM_in_the_same_round() {
        Samples<JvmSample> samples = new Samples<>();
        Peer other = PEERS.get(1);
        samples.add(JvmCost.BASE, sample(100_000));
        samples.add(JvmCost.BASE, sample(10_000));
        samples.add(other, sample(50_000));
        samples.add(other, sample(20_000));

        assertThat(report(samples))
                .contains("| G1 | 35 µs | **1.25** (0.50 to 2.00) | 20,000 | 3.0 ms | 9.0 ms | 15.0 ms | 400 MB |");
    }

    @Test
    void every_variant_is_a_process_of_its_own_and_only_a_JDK_that_is_there_is_measured() {
        assertThat(PEERS).doesNotHaveDuplicates().extracting(Peer::id).doesNotHaveDuplicates();
        assertThat(PEERS).extracting(Peer::name).doesNotHaveDuplicates();
        assertThat(PEERS.stream().flatMap(peer -> peer.jdk().stream())).containsOnly(Path.of("jdk-25"));
        assertThat(JvmCost.peers(Optional.empty()))
                .isNotEmpty()
                .allMatch(peer -> peer.jdk().isEmpty());
    }
}
