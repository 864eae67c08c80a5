package io.fairgate.fairness.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The section of the fairness report about long holds beside short ones. */
final class RegimesReport {

    static final String TITLE = "\n## Long holds beside short ones\n";

    /** Thousands of simulated requests for a regime, before its distribution and its ratio require more. */
    private static final int THOUSAND_REQUESTS = 60;

    /** A row of the report: all pools and weights with the same holds. */
    private record Holds(Regimes.Kind kind, int ratio, boolean leaving) {}

    private record Result(Regimes regime, double measured) {
        Holds holds() {
            return new Holds(regime.kind(), regime.ratio(), regime.leaving() > 0);
        }

        Result orWorse(Result other) {
            return other.distance() > distance() ? other : this;
        }

        private double distance() {
            return Math.abs(measured - regime.wanted());
        }
    }

    private RegimesReport() {}

    /** Runs all regimes: minutes. */
    static String write() {
        List<Result> results = Regimes.all().parallelStream()
                .map(regime -> new Result(regime, regime.measured(THOUSAND_REQUESTS)))
                .toList();
        return TITLE + HEAD + rows(results, true) + BEYOND + rows(results, false);
    }

    private static String rows(List<Result> results, boolean withinMemory) {
        Map<Holds, Result> worst = new LinkedHashMap<>();
        results.stream()
                .filter(result -> result.regime().isWithinMemory() == withinMemory)
                .forEach(result -> worst.merge(result.holds(), result, Result::orWorse));
        return worst.entrySet().stream()
                .map(row -> row(row.getKey(), row.getValue()))
                .collect(Collectors.joining());
    }

    private static final String HEAD = """

                Half of the tenants have long holds and weight 1; the others have short holds of 2 ms. Each row is the worst of up to 18
                pools: 1, 4 and 10 permits, 2 and 20 tenants, and weights 1, 3 and 100 of the tenants with short holds. If clients leave, a
                third of the requests is cancelled, half of these while they wait and half right after the grant. The settings are those of
                a gateway: a memory of 10 minutes, a gain that follows the holds, holds of at most 60 s. The share is the part of the
                permit-time of all tenants with long holds together.

                The rule before this one forgave debts above a multiple of the mean hold. It gave the tenant with long holds 0.82 with one
                permit and holds of 3 s beside 10 ms, 0.81 with ten permits and twenty tenants, and 0.155 instead of 0.0099 with weights of 1
                to 100.

                | holds | long to short | clients leave | worst at | expected | measured |
                |---|---|---|---|---|---|
                """;

    private static final String BEYOND = """

                A tenant's longest hold is a debt of `hold * W / (w * N)` seconds, where W is the sum of all weights. In the table above this is
                within the memory. A longer debt, as of a tenant with a thousandth of the weights that holds the only permit for two seconds,
                is forgotten in part, and the tenant gets up to one hold in every ten minutes. A longer `memory` prevents this. The worst of
                these pools:

                | holds | long to short | clients leave | worst at | expected | measured |
                |---|---|---|---|---|---|
                """;

    private static String row(Holds holds, Result worst) {
        Regimes regime = worst.regime();
        return String.format(
                Locale.ROOT,
                "| %s | %d : 1 | %s | %d permits, %d tenants, weights 1 : %d | %.3f | %.3f |\n",
                holds.kind().name().toLowerCase(Locale.ROOT),
                holds.ratio(),
                holds.leaving() ? "a third" : "no",
                regime.permits(),
                regime.tenants(),
                regime.weight(),
                regime.wanted(),
                worst.measured());
    }
}
