package io.fairgate.benchmarks;

import java.util.Map;

/**
 * One benchmark with its parameters.
 *
 * @param name what it is called in the report
 * @param batch operations in one invocation: what is measured is long enough for a clock, and short enough to come to its
 *     end before another program is given the processor
 */
record Subject(String name, Class<?> benchmark, String method, int batch, int threads, Map<String, String> parameters) {

    static Subject of(String name, Class<?> benchmark, String method, int batch) {
        return new Subject(name, benchmark, method, batch, 1, Map.of());
    }

    Subject byThreads(int threads) {
        return new Subject(name, benchmark, method, batch, threads, parameters);
    }

    Subject with(Map<String, String> parameters) {
        return new Subject(name, benchmark, method, batch, threads, parameters);
    }

    Subject named(String name) {
        return new Subject(name, benchmark, method, batch, threads, parameters);
    }

    /** For JMH: this benchmark and no other. */
    String pattern() {
        return "^" + benchmark.getName().replace(".", "\\.") + "\\." + method + "$";
    }
}
