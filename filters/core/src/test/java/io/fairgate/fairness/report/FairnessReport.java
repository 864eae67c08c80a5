package io.fairgate.fairness.report;

import io.fairgate.fairness.report.ReportScenarios.Joiner;
import io.fairgate.testkit.FairnessBound;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Writes {@code docs/fairness-report.md}: the measured shares of the simulator beside the expected ones. */
final class FairnessReport {

    static final int BOUND_SCENARIOS = 160;

    private FairnessReport() {}

    /** @param regimes the output of {@link RegimesReport}, which takes long */
    static String write(String regimes) {
        String rows = ReportScenarios.shares().stream().map(FairnessReport::row).collect(Collectors.joining());
        return HEAD
                + rows
                + joiner(ReportScenarios.joiners())
                + regimes
                + largeRequests()
                + bound(PermitTimeBound.worst(BOUND_SCENARIOS))
                + FOOT;
    }

    private static final String HEAD = """
            # Fairness report

            Results of the scheduler for workloads that break simpler rules. Each row was simulated in virtual time with the
            scheduler of the gateway. A share is a part of the permit-time, which is permits times the time for which they are held.

            Unless the row says otherwise, every tenant sends a new request as soon as it releases a permit and is always backlogged,
            and requests take 1 s on average (between 0.5 s and 1.5 s). Each simulation covers an hour; the first minute is not
            counted.

            | workload | expected shares | measured shares | pool in use |
            |---|---|---|---|
            """;

    private static String row(ReportScenarios.Shares scenario) {
        List<Double> measured = scenario.measured();
        int tenants = scenario.wanted().size();
        return "| %s | %s | %s | %s |\n"
                .formatted(
                        scenario.name(),
                        shares(scenario.wanted()),
                        shares(measured.subList(0, tenants)),
                        number("%.2f", measured.get(tenants)));
    }

    private static String shares(List<Double> shares) {
        return shares.stream().map(share -> number("%.3f", share)).collect(Collectors.joining(" / "));
    }

    private static String joiner(List<Joiner> joiners) {
        return """

                ## A tenant joins

                One tenant holds all 10 permits with requests of 5 s, and a second tenant joins. Permits are never taken from a running
                request, so the fastest possible is to get every released permit. The second tenant joins at 200 different moments:

                | | fastest possible | measured, mean | lowest | highest |
                |---|---|---|---|---|
                | first permit | %s | %s | %s | %s |
                | half of the pool | %s | %s | %s | %s |
                | longest time in which the first tenant held no permit | 0.00 s | %s | %s | %s |
                """.formatted(
                        mean(joiners, Joiner::firstBack),
                        mean(joiners, Joiner::first),
                        least(joiners, Joiner::first),
                        most(joiners, Joiner::first),
                        mean(joiners, Joiner::fifthBack),
                        mean(joiners, Joiner::half),
                        least(joiners, Joiner::half),
                        most(joiners, Joiner::half),
                        mean(joiners, Joiner::starving),
                        least(joiners, Joiner::starving),
                        most(joiners, Joiner::starving));
    }

    private static String largeRequests() {
        String rows = LargeRequestScenarios.all().stream()
                .map(scenario -> {
                    LargeRequestScenarios.Result result = scenario.run();
                    return "| %s | %s | %s | %s | %s |\n"
                            .formatted(
                                    scenario.name(),
                                    shares(result.others()),
                                    number("%.3f", result.used()),
                                    number("%.3f", result.idle()),
                                    seconds(result.gapSeconds()));
                })
                .collect(Collectors.joining());
        return """

                ## Requests for many permits

                Permits are idle while they are collected for a request that needs more permits than are free, and this time is charged to
                the tenant of that request. The shares are parts of the pool's whole permit-time over ten minutes; `max-collect` is 1 s. The
                last column is the longest time in which a tenant of small requests waited without a grant.

                | workload | each tenant of small requests | used by large requests | idle for them | longest gap |
                |---|---|---|---|---|
                """ + rows;
    }

    private static String bound(FairnessBound worst) {
        return """

                ## How far apart two tenants can drift

                While two tenants are both backlogged, their permit-time per weight may differ by at most
                `(H + k * D) * (U_f / w_f + U_g / w_g)`: gain H, longest hold D, the most permits U that each held, and k = 1 if all requests
                are for one permit, else 2. This bound holds for tenants that ask for one permit at a time, also beside others that ask for
                more. In %d random workloads (1 to 20 permits, 2 to 7 tenants, weights over up to three orders of magnitude, holds of every
                kind between 5 ms and a minute, requests for one and for several permits, tenants that come and go) with an unlimited memory,
                the pair that came closest to its bound reached **%s** of it (%s s of %s s).
                """.formatted(
                        BOUND_SCENARIOS,
                        number("%.3f", worst.ratio()),
                        number("%.1f", worst.observed()),
                        number("%.1f", worst.allowed()));
    }

    private static final String FOOT = """

            ---
            Generated; a test compares this page with the output of the code. To write it again:
            `mvn -pl filters/core -am test -Dtest=FairnessReportTest -Dsurefire.failIfNoSpecifiedTests=false -Dfairgate.report=write`.
            """;

    private static String mean(List<Joiner> joiners, ToDoubleFunction<Joiner> value) {
        return seconds(joiners.stream().mapToDouble(value).average().orElseThrow());
    }

    private static String least(List<Joiner> joiners, ToDoubleFunction<Joiner> value) {
        return seconds(joiners.stream().mapToDouble(value).min().orElseThrow());
    }

    private static String most(List<Joiner> joiners, ToDoubleFunction<Joiner> value) {
        return seconds(joiners.stream().mapToDouble(value).max().orElseThrow());
    }

    private static String seconds(double value) {
        return number("%.2f s", value);
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
