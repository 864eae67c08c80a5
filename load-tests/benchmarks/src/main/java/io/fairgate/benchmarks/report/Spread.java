package io.fairgate.benchmarks.report;

import java.util.Collection;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The values of all rounds. The median counts; the lowest and the highest show how much the rounds differ.
 *
 * @param values in ascending order, at least one
 */
public record Spread(List<Double> values) {

    public Spread {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("values: none (expected: at least one)");
        }
        values = values.stream().sorted().toList();
    }

    public static <T> Spread of(Collection<T> rounds, ToDoubleFunction<T> value) {
        return new Spread(rounds.stream().map(value::applyAsDouble).toList());
    }

    public double median() {
        int middle = values.size() / 2;
        return values.size() % 2 == 1 ? values.get(middle) : (values.get(middle - 1) + values.get(middle)) / 2;
    }

    public double least() {
        return values.get(0);
    }

    public double most() {
        return values.get(values.size() - 1);
    }
}
