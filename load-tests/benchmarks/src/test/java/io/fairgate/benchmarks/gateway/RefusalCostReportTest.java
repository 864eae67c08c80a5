package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.benchmarks.gateway.RefusalCost.Fairgates;
import io.fairgate.benchmarks.gateway.RefusalCost.RefusalSample;
import io.fairgate.benchmarks.gateway.RefusalCost.RequestCost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RefusalCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "reports", "refusal-performance.md");

    private static final Schedule SCHEDULE = new Schedule(2, 3, Duration.ofSeconds(3), 10, 30_000, false);
    private static final Fairgates FAIRGATES = Fairgates.with(1);

    private final Samples<RefusalSample> samples = new Samples<>();

    /** Adds a round in which plain SCG needs 200 µs for a request, and a Fairgate 100 µs and 20 kB for a forwarded one. */
    private void round(double refusalNanos, double refusalKilobytes, double floorNanos) {
        RequestCost refusal = new RequestCost(refusalNanos, refusalKilobytes * 1024);
        for (Peer peer : FAIRGATES.compared()) {
            Map<RequestKind, RequestCost> costs = new EnumMap<>(RequestKind.class);
            RefusalCost.kinds(peer).forEach(kind -> costs.put(kind, refusal));
            if (FAIRGATES.both().contains(peer)) {
                costs.put(RequestKind.FORWARDED, new RequestCost(100_000, 20 * 1024));
            } else if (peer.equals(RefusalCost.SPRING)) {
                costs.put(RequestKind.FORWARDED, new RequestCost(200_000, 40 * 1024));
            } else {
                costs.put(RequestKind.QUEUE_FULL, new RequestCost(floorNanos, 1024));
            }
            samples.add(peer, new RefusalSample(costs, 0.1));
        }
    }

    private String report() {
        return new RefusalCostReport("Measured on this", SCHEDULE, FAIRGATES, samples).text();
    }

    /** The page without the parts that depend on the machine. */
    private static String form(String page) {
        return page.replaceAll("\\s+", " ")
                .replaceAll("Measured on .*? \\| server", "machine | server")
                .replaceAll("That (alone )?is (above|within) the target[^.]*", "verdict")
                .replaceAll("\\| [*]*(yes|no)[*]* (?=\\|)", "| verdict ")
                .replaceAll("[*]*\\b\\d[\\d,.]*\\b[*]*", "N")
                .replaceAll("N (ns|µs|ms)", "N time");
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        round(30_000, 3, 15_000);

        assertThat(form(Files.readString(REPORT))).isEqualTo(form(report()));
    }

    @Test
    void every_kind_of_request_of_every_server_has_its_cost() {
        round(30_000, 3, 15_000);

        assertThat(report())
                .contains("| plain SCG | forwarded | 200 µs | **13.33** (13.33 to 13.33) | 40.0 kB |")
                .contains("| Fairgate, 20 members | forwarded | 100 µs | **6.67** (6.67 to 6.67) | 20.0 kB |")
                .contains("| Fairgate, 20 members | 401: no identity | 30 µs | **2.00** (2.00 to 2.00) | 3.0 kB |")
                .contains("| Fairgate, 20,000 members | 429: a quota is used up | 30 µs |")
                .contains("| Fairgate, 20,000 members | 503: the queue of the pool is full | 30 µs |")
                .contains("| Netty alone | 503: the queue of the pool is full | 15 µs |");
    }

    @Test
    void a_ratio_is_the_median_of_the_ratios_within_the_rounds() {
        round(10_000, 3, 10_000);
        round(60_000, 3, 20_000);
        round(40_000, 3, 40_000);

        assertThat(report())
                .contains("| Fairgate, 20 members: 503 | **0.40** (0.10 to 0.60) | **no** | **0.20** (0.05 to 0.30) |")
                .contains("| Fairgate, 20 members | 401: no identity | 40 µs | **1.00** (1.00 to 3.00) | 3.0 kB |");
    }

    @Test
    void every_target_can_be_met_and_missed() {
        round(15_000, 3, 15_000);
        String good = report();
        round(90_000, 9, 90_000);
        round(90_000, 9, 90_000);
        String bad = report();

        assertThat(rows(good, "## Targets")).hasSize(6).allMatch(row -> row.matches("(.*\\| yes ){2}.*"));
        assertThat(rows(bad, "## Targets")).hasSize(6).allMatch(row -> row.matches("(.*\\| \\*\\*no\\*\\* ){2}.*"));
        assertThat(rows(bad, "## The least that a refusal can cost"))
                .hasSize(2)
                .allMatch(row -> row.matches("(.*\\| \\*\\*no\\*\\* ){2}.*"));
    }

    private static List<String> rows(String page, String heading) {
        return page.lines()
                .dropWhile(line -> !line.equals(heading))
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .takeWhile(line -> !line.isEmpty())
                .toList();
    }

    @Test
    void a_target_is_met_up_to_its_limit_only() {
        round(15_100, 3, 15_000);

        assertThat(rows(report(), "## Targets"))
                .contains("| Fairgate, 20 members: 401 | **0.15** (0.15 to 0.15) | **no** "
                        + "| **0.08** (0.08 to 0.08) | yes | **0.15** (0.15 to 0.15) |");
    }

    @Test
    void the_page_says_which_targets_no_gateway_on_these_servers_can_meet() {
        round(30_000, 3, 20_000);

        assertThat(report().replaceAll("\\s+", " "))
                .contains(
                        "**Reactor Netty alone** needs 0.20 of the processor time of a forwarded request of"
                                + " Fairgate. That alone is above the target: on this machine, no gateway that answers through this server can meet it.")
                .contains("**Netty alone** needs 0.10 of the processor time of a forwarded request of plain SCG."
                        + " That is within the target; the rest is what a gateway may add.");
    }

    @Test
    void the_picture_has_every_kind_of_request_of_every_server() {
        round(30_000, 3, 15_000);
        String picture = new RefusalCostReport("", SCHEDULE, FAIRGATES, samples).picture();

        assertThat(List.of("plain SCG: 200", "Reactor Netty alone", "Netty alone"))
                .allSatisfy(name -> assertThat(picture).contains(">" + name + "<"));
        assertThat(List.of(200, 401, 429, 503))
                .allSatisfy(status -> assertThat(picture)
                        .contains(">Fairgate, 20 members: " + status + "<")
                        .contains(">Fairgate, 20,000 members: " + status + "<"));
    }
}
