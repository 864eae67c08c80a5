package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.gateway.GatewayCost.CostSample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GatewayCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "gateway-performance.md");

    private static final Schedule SCHEDULE = new Schedule(3, 1, Duration.ofSeconds(10), 10, 30_000, false);
    private static final CostSample USUAL = sample(100_000, 40);

    private static CostSample sample(double nanos, double kilobytes) {
        return new CostSample(nanos, 5_000, kilobytes * 1024, 20_000, 3, 9, 0.1);
    }

    private static Samples<CostSample> usual() {
        Samples<CostSample> samples = new Samples<>();
        GatewayCost.PEERS.forEach(peer -> samples.add(peer, USUAL));
        return samples;
    }

    private static Samples<CostSample> with(Map<Peer, CostSample> special) {
        Samples<CostSample> samples = new Samples<>();
        GatewayCost.PEERS.forEach(peer -> samples.add(peer, special.getOrDefault(peer, USUAL)));
        return samples;
    }

    private static String report(Samples<CostSample> samples) {
        return new GatewayCostReport("Measured on this", SCHEDULE, samples).text();
    }

    /** The page without the parts that depend on the machine. */
    private static String form(String page) {
        return page.replaceAll("Measured on [^|]*\n\n", "machine\n\n")
                .replaceAll("[*]*(\\d[\\d,.]*\\b|yes|no)[*]*", "N")
                .replaceAll("N (ns|µs|ms)", "N time");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report(usual())));
    }

    @Test
    void the_ratio_is_the_median_of_the_ratios_within_the_rounds() {
        Samples<CostSample> samples = usual();
        GatewayCost.PEERS.forEach(peer ->
                samples.add(peer, sample(peer.equals(GatewayCost.FULL) ? 600_000 : 300_000, 40)));
        GatewayCost.PEERS.forEach(peer ->
                samples.add(peer, sample(peer.equals(GatewayCost.FULL) ? 30_000 : 10_000, 40)));

        assertThat(report(samples)).contains("| Fairgate full | 100 µs | **2.00** (1.00 to 3.00) | 40.0 kB |");
    }

    @Test
    void every_target_can_be_met_and_missed() {
        String good = report(with(Map.of(
                GatewayCost.PLAIN, sample(60_000, 20),
                GatewayCost.FULL, sample(65_000, 22),
                GatewayCost.ON_REDIS, sample(68_000, 22),
                GatewayCost.REDIS_LIMITER, sample(102_000, 60))));
        String bad = report(with(Map.of(
                GatewayCost.PLAIN, sample(102_000, 20),
                GatewayCost.FULL, sample(101_000, 28.1),
                GatewayCost.ON_REDIS, sample(107_000, 28.1),
                GatewayCost.REDIS_LIMITER, sample(160_000, 60))));

        assertThat(targets(good)).hasSize(8).allMatch(row -> row.endsWith("| yes |"));
        assertThat(targets(bad)).hasSize(8).allMatch(row -> row.endsWith("| **no** |"));
    }

    private static List<String> targets(String page) {
        return page.lines()
                .dropWhile(line -> !line.equals("## Targets"))
                .skip(4)
                .takeWhile(line -> !line.isEmpty())
                .toList();
    }

    @Test
    void a_target_is_met_up_to_its_limit_only() {
        String page = report(with(Map.of(GatewayCost.FULL, sample(80_100, 28))));

        assertThat(page)
                .contains("at most 0.80 of it | **0.80** (0.80 to 0.80) | **no** |")
                .contains("at most 28 kB for a request | 28.0 kB | yes |");
    }

    @Test
    void a_gateway_that_could_not_run_is_named_with_the_reason() {
        Samples<CostSample> samples = new Samples<>();
        GatewayCost.PEERS.stream().filter(peer -> !peer.needsRedis()).forEach(peer -> samples.add(peer, USUAL));
        samples.withoutRedis("no program for this processor");

        assertThat(report(samples).replaceAll("\\s+", " "))
                .contains("left out, because Redis cannot run on this machine: no program for this processor.")
                .doesNotContain("Redis itself used", "through Redis");
        assertThat(report(usual()))
                .doesNotContain("left out")
                .contains("Redis itself used another 5000 ns for each request of *Fairgate full, through Redis*.");
    }

    @Test
    void the_picture_has_every_gateway() {
        String picture = new GatewayCostReport("", SCHEDULE, usual()).picture();

        assertThat(GatewayCost.PEERS).allSatisfy(peer -> assertThat(picture).contains(">" + peer.name() + "<"));
    }
}
