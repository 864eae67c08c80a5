package io.fairgate.benchmarks;

import io.fairgate.benchmarks.report.Spread;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One line of the report: the time of an operation, compared with the fastest of its baselines.
 *
 * @param name the operation
 * @param limit the highest acceptable ratio, or {@link #NO_LIMIT}
 * @param meaning what the line shows, and what bounds it
 */
record Line(String name, Subject measured, List<Subject> baselines, double limit, String meaning) {

    /** For a line that is information only. */
    static final double NO_LIMIT = Double.POSITIVE_INFINITY;

    Line {
        if (baselines.isEmpty()) {
            throw new IllegalArgumentException("baselines: none (expected: at least one)");
        }
    }

    /** Compares each round with the baselines of the same round: what disturbs a round disturbs both sides. */
    Comparison compare(Map<Subject, List<Cost>> rounds) {
        List<Cost> own = Rounds.of(rounds, measured);
        List<Double> ratios = IntStream.range(0, own.size())
                .mapToObj(round -> own.get(round).nanos() / fastest(rounds, round))
                .toList();
        return new Comparison(new Spread(ratios), limit, leastProcessors(rounds) / measured.threads());
    }

    private double leastProcessors(Map<Subject, List<Cost>> rounds) {
        return Stream.concat(Stream.of(measured), baselines.stream())
                .mapToDouble(subject ->
                        Spread.of(Rounds.of(rounds, subject), Cost::processors).median())
                .min()
                .orElseThrow();
    }

    private double fastest(Map<Subject, List<Cost>> rounds, int round) {
        return baselines.stream()
                .mapToDouble(baseline -> Rounds.of(rounds, baseline).get(round).nanos())
                .min()
                .orElseThrow();
    }
}
