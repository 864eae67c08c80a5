package io.fairgate.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One line of the report: how long something takes beside the fastest of what it is compared with.
 *
 * @param name what is done
 * @param limit the ratio that is wanted at most, or {@link #NO_LIMIT}
 * @param meaning what the line tells, and what bounds it
 */
record Line(String name, Subject measured, List<Subject> baselines, double limit, String meaning) {

    /** Of a line that only tells. */
    static final double NO_LIMIT = Double.POSITIVE_INFINITY;

    Line {
        if (baselines.isEmpty()) {
            throw new IllegalArgumentException("baselines: none (expected: at least one)");
        }
    }

    /** The measured rounds, each compared with its own baselines: what disturbs a whole round disturbs both sides. */
    Comparison compare(Map<Subject, List<Cost>> rounds) {
        List<Cost> own = Rounds.of(rounds, measured);
        List<Double> ratios = IntStream.range(0, own.size())
                .mapToObj(round -> own.get(round).nanos() / fastest(rounds, round))
                .toList();
        return new Comparison(ratios, limit, leastProcessors(rounds) / measured.threads());
    }

    private double leastProcessors(Map<Subject, List<Cost>> rounds) {
        return Stream.concat(Stream.of(measured), baselines.stream())
                .mapToDouble(subject -> Rounds.median(Rounds.of(rounds, subject).stream()
                        .map(Cost::processors)
                        .toList()))
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
