package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class LineTest {

    private static final Subject OURS = Subject.of("ours", LineTest.class, "ours", 1);
    private static final Subject THEIRS = Subject.of("theirs", LineTest.class, "theirs", 1);
    private static final Subject OTHERS = Subject.of("others", LineTest.class, "others", 1);
    private static final Line LINE = new Line("line", OURS, List.of(THEIRS, OTHERS), 2, "");

    @Test
    void a_line_meets_its_target_up_to_the_limit() {
        assertThat(compare(nanos(20), nanos(10), nanos(10)).holds()).isTrue();
        assertThat(compare(nanos(20.1), nanos(10), nanos(10)).holds()).isFalse();
    }

    @Test
    void the_fastest_baseline_counts() {
        assertThat(compare(nanos(20), nanos(10), nanos(4)).ratios().median()).isEqualTo(5);
        assertThat(compare(nanos(20), nanos(4), nanos(10)).ratios().median()).isEqualTo(5);
    }

    @Test
    void the_median_of_the_ratios_of_each_round_counts() {
        Comparison comparison = compare(nanos(10, 1000, 30), nanos(10, 500, 10), nanos(99, 9999, 99));

        assertThat(comparison.ratios().median()).isEqualTo(2);
        assertThat(comparison.ratios().least()).isEqualTo(1);
        assertThat(comparison.ratios().most()).isEqualTo(3);
    }

    @Test
    void only_the_iterations_with_the_most_processors_count() {
        Cost cost = Rounds.leastDisturbed(List.of(
                new Cost(50, 8, 0.3),
                new Cost(10, 8, 0.9),
                new Cost(60, 8, 0.2),
                new Cost(30, 8, 1),
                new Cost(40, 8, 0.5)));

        assertThat(cost).isEqualTo(new Cost(20, 8, 0.95));
    }

    @Test
    void threads_that_did_not_run_at_the_same_time_are_recognised() {
        Line two = new Line("line", OURS.byThreads(2), List.of(THEIRS.byThreads(2)), 2, "");

        assertThat(two.compare(processors(1.8, 1.7)).ranAtOnce()).isTrue();
        assertThat(two.compare(processors(1.8, 1.5)).ranAtOnce()).isFalse();
        assertThat(two.compare(processors(1.5, 1.8)).ranAtOnce()).isFalse();
    }

    private static Map<Subject, List<Cost>> processors(double ours, double theirs) {
        return Map.of(
                OURS.byThreads(2), List.of(new Cost(1, 0, ours)), THEIRS.byThreads(2), List.of(new Cost(1, 0, theirs)));
    }

    private static Comparison compare(List<Cost> ours, List<Cost> theirs, List<Cost> others) {
        return LINE.compare(Map.of(OURS, ours, THEIRS, theirs, OTHERS, others));
    }

    private static List<Cost> nanos(double... rounds) {
        return DoubleStream.of(rounds).mapToObj(nanos -> new Cost(nanos, 0, 1)).toList();
    }
}
