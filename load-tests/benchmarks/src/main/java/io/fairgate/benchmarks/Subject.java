package io.fairgate.benchmarks;

import java.util.Map;

/**
 * One benchmark with its parameters.
 *
 * @param name its name in the report
 * @param batch operations in one invocation: enough for the resolution of the clock, and few enough to finish before
 *     another program gets the processor
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

    /** The pattern by which JMH selects this benchmark only. */
    String pattern() {
        return "^" + benchmark.getName().replace(".", "\\.") + "\\." + method + "$";
    }
}
