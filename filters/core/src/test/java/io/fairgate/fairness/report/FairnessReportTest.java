package io.fairgate.fairness.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.fairgate.fairness.report.ReportScenarios.Joiner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FairnessReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "fairness-report.md");

    /** The regimes take minutes: only {@code -Dfairgate.regimes=all} runs them; otherwise the committed page is used. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void the_report_in_the_docs_is_the_output_of_the_code() throws IOException {
        boolean writes = "write".equals(System.getProperty("fairgate.report"));
        String regimes = System.getProperty("fairgate.regimes", writes ? "all" : "kept");
        boolean runsAll = regimes.equals("all");
        String report = FairnessReport.write(runsAll ? RegimesReport.write() : regimesOf(Files.readString(REPORT)));
        if (writes) {
            Files.createDirectories(REPORT.getParent());
            Files.writeString(REPORT, report);
        }

        assertThat(REPORT).as("write it with -Dfairgate.report=write").hasContent(report);
    }

    private static String regimesOf(String page) {
        int from = page.indexOf(RegimesReport.TITLE);
        int to = page.indexOf("\n## ", from + RegimesReport.TITLE.length());
        assertThat(from).as("start of the section").isPositive();
        return page.substring(from, to);
    }

    /** The first committed table contains all regimes that the memory can hold. */
    @Test
    void every_regime_of_the_report_is_within_five_percent() throws IOException {
        String section = regimesOf(Files.readString(REPORT));
        List<String> rows = section.substring(0, section.indexOf("A tenant's longest hold"))
                .lines()
                .filter(line -> line.startsWith("| ") && line.contains(" : 1 |"))
                .toList();
        assertThat(rows).hasSize(32);
        for (String row : rows) {
            String[] cells = row.split(" \\| ", -1);
            double wanted = Double.parseDouble(cells[4]);
            double measured = Double.parseDouble(cells[5].replace(" |", ""));
            assertThat(measured).as(row).isCloseTo(wanted, offset(Regimes.TOLERANCE));
        }
    }

    static List<Regimes> sampleOfRegimes() {
        List<Regimes> all = Regimes.all();
        return IntStream.range(0, all.size())
                .filter(i -> i % 41 == 7)
                .mapToObj(all::get)
                .filter(regime -> regime.kind() == Regimes.Kind.CONSTANT || regime.kind() == Regimes.Kind.EXPONENTIAL)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("sampleOfRegimes")
    void tenants_with_long_holds_get_exactly_their_share(Regimes regime) {
        assertThat(regime.measured(100)).isCloseTo(regime.wanted(), offset(Regimes.TOLERANCE));
    }

    static Stream<Regimes> whatTheFirstRuleGotWrong() {
        return Stream.of(
                new Regimes(Regimes.Kind.CONSTANT, 1_000, 1, 2, 1, 0),
                new Regimes(Regimes.Kind.CONSTANT, 100, 10, 20, 1, 0),
                new Regimes(Regimes.Kind.EXPONENTIAL, 1_000, 4, 2, 100, 0),
                new Regimes(Regimes.Kind.CONSTANT, 1_000, 4, 20, 1, 1 / 3.0));
    }

    @ParameterizedTest
    @MethodSource("whatTheFirstRuleGotWrong")
    void long_holds_are_charged_in_full_beside_frequent_short_holds(Regimes regime) {
        assertThat(regime.measured(250)).isCloseTo(regime.wanted(), offset(0.03));
    }

    static Stream<Regimes> smallShares() {
        return Stream.of(
                new Regimes(Regimes.Kind.CONSTANT, 100, 1, 20, 100, 0),
                new Regimes(Regimes.Kind.CONSTANT, 100, 10, 20, 100, 1 / 3.0),
                new Regimes(Regimes.Kind.CONSTANT, 1_000, 10, 2, 100, 0),
                new Regimes(Regimes.Kind.EXPONENTIAL, 100, 10, 2, 100, 0));
    }

    @ParameterizedTest
    @MethodSource("smallShares")
    void a_share_of_one_in_a_hundred_is_neither_doubled_nor_lost(Regimes regime) {
        assertThat(regime.measured(60)).isCloseTo(regime.wanted(), withinPercentage(25));
    }

    static List<LargeRequestScenarios.Scenario> largeRequests() {
        return LargeRequestScenarios.all();
    }

    @ParameterizedTest
    @MethodSource("largeRequests")
    void a_tenant_with_large_requests_does_not_reduce_the_shares_of_others(LargeRequestScenarios.Scenario scenario) {
        LargeRequestScenarios.Result result = scenario.run();
        int i = 0;
        for (double least : scenario.others().values()) {
            assertThat(result.others().get(i++)).as("%s", result).isGreaterThan(least);
        }
    }

    static List<ReportScenarios.Shares> scenarios() {
        return ReportScenarios.shares();
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void every_tenant_gets_its_expected_share(ReportScenarios.Shares scenario) {
        List<Double> measured = scenario.measured();
        int tenants = scenario.wanted().size();
        for (int i = 0; i < tenants; i++) {
            assertThat(measured.get(i)).isEqualTo(scenario.wanted().get(i), offset(ReportScenarios.TOLERANCE));
        }
        assertThat(measured.get(tenants)).as("pool in use").isGreaterThan(scenario.utilisation() - 0.001);
    }

    @Test
    void a_joining_tenant_gets_permits_as_they_are_released_and_starves_no_other() {
        List<Joiner> joiners = ReportScenarios.joiners();

        assertThat(joiners).allMatch(joiner -> joiner.first() == joiner.firstBack() && joiner.starving() == 0);
        // Rarely one of its own permits is released before it gets the fifth.
        assertThat(joiners.stream().filter(joiner -> joiner.half() == joiner.fifthBack()))
                .hasSizeGreaterThan(joiners.size() * 9 / 10);
    }
}
