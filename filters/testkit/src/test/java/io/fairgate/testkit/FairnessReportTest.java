package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.testkit.ReportScenarios.Joiner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FairnessReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "fairness-report.md");

    @Test
    void the_report_in_the_docs_says_what_the_code_yields() throws IOException {
        String report = FairnessReport.write();
        if ("write".equals(System.getProperty("fairgate.report"))) {
            Files.createDirectories(REPORT.getParent());
            Files.writeString(REPORT, report);
        }

        assertThat(REPORT).as("write it with -Dfairgate.report=write").hasContent(report);
    }

    static List<ReportScenarios.Shares> scenarios() {
        return ReportScenarios.shares();
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void every_tenant_gets_the_share_that_is_wanted_for_it(ReportScenarios.Shares scenario) {
        List<Double> measured = scenario.measured();
        int tenants = scenario.wanted().size();
        for (int i = 0; i < tenants; i++) {
            assertThat(measured.get(i)).isEqualTo(scenario.wanted().get(i), offset(ReportScenarios.TOLERANCE));
        }
        assertThat(measured.get(tenants)).as("pool in use").isGreaterThan(scenario.utilisation() - 0.001);
    }

    @Test
    void a_tenant_that_joins_is_as_fast_as_permits_come_back_and_the_other_never_has_nothing() {
        List<Joiner> joiners = ReportScenarios.joiners();

        assertThat(joiners).allMatch(joiner -> joiner.first() == joiner.firstBack() && joiner.starving() == 0);
        // Rarely one of its own is back before its fifth comes.
        assertThat(joiners.stream().filter(joiner -> joiner.half() == joiner.fifthBack()))
                .hasSizeGreaterThan(joiners.size() * 9 / 10);
    }
}
