package io.fairgate.testkit;

import io.fairgate.testkit.ReportScenarios.Joiner;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Writes {@code docs/fairness-report.md}: what the simulator measures, beside what is wanted. */
final class FairnessReport {

    static final int BOUND_SCENARIOS = 160;

    private FairnessReport() {}

    /** @param regimes what {@link RegimesReport} says, which takes long */
    static String write(String regimes) {
        String rows = ReportScenarios.shares().stream().map(FairnessReport::row).collect(Collectors.joining());
        return HEAD
                + rows
                + joiner(ReportScenarios.joiners())
                + regimes
                + largeClaims()
                + bound(PermitTimeBound.worst(BOUND_SCENARIOS))
                + FOOT;
    }

    private static final String HEAD = """
            # Fairness report

            What the scheduler does with workloads that break simpler rules: each row was simulated on virtual time with the
            scheduler that the gateway runs. A share is a part of the permit-time: permits times how long they were held.

            Every tenant asks again as soon as it gave a permit back and always has something waiting, unless the row says
            otherwise. Requests last 1 s on average (half of it to one and a half times) unless the row says otherwise. An hour is
            simulated and its first minute left out.

            | what happens | wanted shares | measured shares | pool in use |
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

                One tenant has all 10 permits with requests of 5 s, and a second joins. Nothing is taken away from a request that runs,
                so the fastest possible is to get every permit that comes back. 200 moments of joining:

                | | fastest possible | measured, mean | least | most |
                |---|---|---|---|---|
                | first permit | %s | %s | %s | %s |
                | half of the pool | %s | %s | %s | %s |
                | longest time the first tenant had nothing | 0.00 s | %s | %s | %s |
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

    private static String largeClaims() {
        String rows = LargeClaimScenarios.all().stream()
                .map(scenario -> {
                    LargeClaimScenarios.Result result = scenario.run();
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

                Permits idle while they are collected for a request that needs more than are free. What idles is charged to the tenant of
                that request. The shares are parts of all that the pool could give, over ten minutes; `max-collect` is 1 s. The last
                column is the longest time in which a tenant of small requests waited and was granted nothing.

                | what happens | each tenant of small requests | used by large requests | idle for them | longest gap |
                |---|---|---|---|---|
                """ + rows;
    }

    private static String bound(FairnessBound worst) {
        return """

                ## How far apart two tenants can drift

                While two tenants both have something waiting, their permit-time per weight may differ by no more than
                `(H + k * D) * (U_f / w_f + U_g / w_g)`: gain H, longest hold D, the most permits U that each held, and k = 1 when all
                requests are for one permit, else 2. That is so for tenants that ask for one permit at a time, also beside others that
                ask for more. Over %d random workloads (1 to 20 permits, 2 to 7 tenants, weights over up to three orders of magnitude,
                holds of every kind between 5 ms and a minute, requests for one and for several permits, tenants that come and go), with the
                memory without end, the pair that came closest to its bound reached **%s** of it (%s s of %s s).
                """.formatted(
                        BOUND_SCENARIOS,
                        number("%.3f", worst.ratio()),
                        number("%.1f", worst.observed()),
                        number("%.1f", worst.allowed()));
    }

    private static final String FOOT = """

            ---
            Generated; a test compares it with what the code yields. Write it anew with
            `mvn -pl filters/testkit -am test -Dtest=FairnessReportTest -Dsurefire.failIfNoSpecifiedTests=false -Dfairgate.report=write`.
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
