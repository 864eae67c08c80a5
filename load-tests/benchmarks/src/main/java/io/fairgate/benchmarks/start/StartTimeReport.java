package io.fairgate.benchmarks.start;

import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** {@code docs/reports/start-time.md}. */
final class StartTimeReport {

    private static final double SERVE_SECONDS = 2.5;
    private static final double SERVE_25_CACHED_SECONDS = 1.5;
    private static final double THROTTLE_SECONDS = 1.2;

    private final String machine;
    private final int rounds;
    private final Map<String, Starter> starters = new LinkedHashMap<>();
    private final Map<String, List<StartSample>> samples = new LinkedHashMap<>();

    StartTimeReport(String machine, int rounds) {
        this.machine = machine;
        this.rounds = rounds;
    }

    void add(Starter starter, StartSample sample) {
        starters.put(starter.name(), starter);
        samples.computeIfAbsent(starter.name(), name -> new ArrayList<>()).add(sample);
    }

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + TABLE
                + starters.keySet().stream().map(this::row).collect(Collectors.joining())
                + BELOW_TABLE
                + target(Starters.SERVE, SERVE_SECONDS)
                + target(Starters.SERVE_25_CACHED, SERVE_25_CACHED_SECONDS)
                + target(Starters.THROTTLE, THROTTLE_SECONDS)
                + how()
                + starters.values().stream()
                        .map(starter ->
                                Formats.wrapped("- **%s.** %s".formatted(starter.name(), starter.setting()), "  "))
                        .collect(Collectors.joining());
    }

    private static final String HEAD = """
            # Start time

            How soon a gateway answers after the start of its process, with and without the file that
            [start-cache](../deploy.md#a-faster-start) makes.

            To run it again: `mvn -P start-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds Fairgate,
            measures, and rewrites this page. It takes about five minutes, on a machine that should have nothing else to
            do. `-Dfairgate.jdk25=FOLDER`, the home of a JDK 25, adds the rows for JDK 25. With `-Dfairgate.quick=true` it
            measures each start once, and writes to `load-tests/benchmarks/target/start-benchmarks`.

            """;

    private static final String TABLE = """

            | program | first 200 after | processor time until then | relative to plain SCG |
            |---|---|---|---|
            """;

    private String row(String name) {
        Spread seconds = spread(name, StartSample::seconds);
        Spread processor = spread(name, StartSample::processorSeconds);
        double base = spread(Starters.SPRING, StartSample::processorSeconds).median();
        return Formats.number(
                "| %s | **%.2f s** (%.2f to %.2f) | %.2f s (%.2f to %.2f) | %.2f |\n",
                name,
                seconds.median(),
                seconds.least(),
                seconds.most(),
                processor.median(),
                processor.least(),
                processor.most(),
                processor.median() / base);
    }

    private static final String BELOW_TABLE = """

            The numbers are medians; the lowest and the highest are in parentheses. The processor time is that of all
            threads of the process, the JVM's compilers included. The last column compares it. SCG is Spring Cloud Gateway.

            ## Targets

            | target | measured | met |
            |---|---|---|
            """;

    private String target(String name, double most) {
        if (!samples.containsKey(name)) {
            return Formats.number("| %s: at most %.1f s | not measured | |\n", name, most);
        }
        double median = spread(name, StartSample::seconds).median();
        return Formats.number(
                "| %s: at most %.1f s | %.2f s | %s |\n", name, most, median, Formats.verdict(median <= most));
    }

    private static final String HOW = """

            ## How it is measured

            - Number of rounds: %d. Each round starts every program once, one after the other. From the start of the process
              on, the same request is sent again every 5 ms until the answer is 200.
            - Gateways forward the request to an upstream in a process of its own. Throttle answers it itself.
            - The JVM chooses its heap and all else, as with `java -jar`.
            - While a program started, other programs of the machine used %.2f processors in the median, and at most %.2f.
              With more than 0.3, the seconds of the second column are too high, and only the last column counts.

            """;

    private String how() {
        Spread others =
                Spread.of(samples.values().stream().flatMap(List::stream).toList(), StartSample::others);
        return Formats.number(HOW, rounds, others.median(), others.most());
    }

    private Spread spread(String name, ToDoubleFunction<StartSample> value) {
        return Spread.of(Objects.requireNonNull(samples.get(name), () -> "not measured: " + name), value);
    }
}
