package io.fairgate.benchmarks;

import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Machine;
import io.fairgate.benchmarks.report.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.runner.RunnerException;

/** Measures everything, and writes {@code docs/performance.md}. */
public final class PerformanceReport {

    private static final int ITEMS = 10_000;

    private PerformanceReport() {}

    /**
     * Takes about ten minutes. With {@code -Dfairgate.only=TEXT} it measures the lines whose names contain the text, and
     * writes nothing.
     *
     * @param args the file to write
     */
    public static void main(String[] args) throws IOException, RunnerException {
        int rounds = Integer.getInteger("fairgate.rounds", 3);
        String only = System.getProperty("fairgate.only", "");
        if (only.isEmpty()) {
            String machine = Machine.describe();
            MemoryUse memory = MemoryUse.measure(ITEMS);
            String report = write(Lines.all(), Rounds.run(Lines.all(), rounds), memory, machine);
            Files.writeString(Path.of(args[0]), report);
            System.out.println(report);
        } else {
            List<Line> lines = Lines.all().stream()
                    .filter(line -> line.name().contains(only))
                    .toList();
            Map<Subject, List<Cost>> costs = Rounds.run(lines, rounds);
            lines.forEach(line -> System.out.print(row(line, costs)));
        }
    }

    static String write(List<Line> lines, Map<Subject, List<Cost>> costs, MemoryUse memory, String machine) {
        int rounds = costs.values().iterator().next().size();
        return HEAD.formatted(Formats.wrapped(HOW.formatted(machine, rounds), ""))
                + lines.stream().map(line -> row(line, costs)).collect(Collectors.joining())
                + MEANINGS
                + lines.stream().map(PerformanceReport::meaning).collect(Collectors.joining())
                + MEMORY
                + memory(memory)
                + ALLOCATION
                + allocation(memory, costs)
                + FOOT;
    }

    private static final String HEAD = """
            # Performance report

            The cost of the permit core, compared with libraries that do the same or less. Compare only the ratios: both sides of
            each were measured in the same run, one shortly after the other, so what disturbs one disturbs the other. The times
            are those of one machine. What a whole request costs, compared with other gateways, is in
            [gateway-performance.md](reports/gateway-performance.md).

            %s
            ## Time

            | operation | time | compared with | time | ratio | target | met |
            |---|---|---|---|---|---|---|
            """;

    private static final String HOW = """
            %s; %d rounds. Each round measured everything once, in new JVMs. A time is that of one operation: the median of
            many short batches, so that a batch does not count during which another program had the processor. A ratio is the
            median of the ratios of the rounds; the lowest and the highest are in parentheses.
            """;

    private static String row(Line line, Map<Subject, List<Cost>> costs) {
        Comparison comparison = line.compare(costs);
        Subject fastest = line.baselines().stream()
                .min(Comparator.comparingDouble(baseline -> nanos(costs, baseline)))
                .orElseThrow();
        return "| %s | %s | %s | %s | %s | %s | %s |\n"
                .formatted(
                        line.name(),
                        Formats.time(nanos(costs, line.measured())),
                        line.baselines().stream().map(Subject::name).collect(Collectors.joining(", ")),
                        Formats.time(nanos(costs, fastest)),
                        Formats.ratio(comparison.ratios()),
                        comparison.isWanted() ? Formats.number("at most %.1f", line.limit()) : "",
                        verdict(line, comparison));
    }

    private static String verdict(Line line, Comparison comparison) {
        if (!comparison.isWanted()) {
            return "";
        }
        return line.measured().threads() > 1 && !comparison.ranAtOnce()
                ? "not measured: the threads did not run at once"
                : Formats.verdict(comparison.holds());
    }

    private static final String MEANINGS = """

            If a line is compared with two others, the faster one counts.

            ## What the lines mean, and what bounds them

            """;

    private static String meaning(Line line) {
        return Formats.wrapped(
                "- **%s, compared with %s.** %s"
                        .formatted(
                                line.name(),
                                line.baselines().stream().map(Subject::name).collect(Collectors.joining(" and ")),
                                line.meaning().strip()),
                "  ");
    }

    private static final String MEMORY = """

            ## Memory

            The bytes that 10,000 of each add to the heap, as counted by the JVM, divided by 10,000. The caller's own objects (the
            request, the work, the subscriber) are not counted.

            | what | bytes | target | met |
            |---|---|---|---|
            """;

    private static String memory(MemoryUse memory) {
        return bounded("a waiter: the request in the queue", memory.waiter(), MemoryUse.WAITER_LIMIT)
                + bounded(
                        "a configured tenant with a waiting request and two used quotas",
                        memory.tenantAndQuotas(),
                        MemoryUse.TENANT_LIMIT)
                + unbounded("of these: its name, settings and account in a pool", memory.tenant())
                + unbounded("of these: the usage of its quotas", memory.quotas())
                + unbounded("the prepared set of its two quotas, kept by the policy", memory.quotaSet())
                + unbounded("a handle, returned by `tryAcquire`", memory.handle());
    }

    private static final String ALLOCATION = """

            The bytes that an operation allocates. Only what waits or is held lives longer than the operation.

            | operation | bytes | target | met |
            |---|---|---|---|
            """;

    private static String allocation(MemoryUse memory, Map<Subject, List<Cost>> costs) {
        double ofTryAcquire = bytes(costs, Lines.TRY_ACQUIRE);
        return Formats.number(
                        "| `tryAcquire` and `release` | %.0f | at most the handle: %.0f | %s |\n",
                        ofTryAcquire, memory.handle(), Formats.verdict(ofTryAcquire < memory.handle() + 1))
                + unbounded("`withPermit` without a wait", bytes(costs, Lines.WITH_PERMIT))
                + unbounded("a request that waits", bytes(costs, Lines.CONTENDED))
                + unbounded("the same with reactor-pool", bytes(costs, Lines.REACTOR_POOL));
    }

    private static final String FOOT = """

            ---
            Generated by `mvn -P benchmarks -pl load-tests/benchmarks -am verify`, which takes about ten minutes. The machine should
            have nothing else to do: beside other programs, two threads of a benchmark seldom run at the same time, and what they
            cost each other stays hidden.
            """;

    private static String bounded(String what, double bytes, int limit) {
        return Formats.number("| %s | %.0f | at most %d | %s |\n", what, bytes, limit, Formats.verdict(bytes <= limit));
    }

    private static String unbounded(String what, double bytes) {
        return Formats.number("| %s | %.0f | | |\n", what, bytes);
    }

    private static double nanos(Map<Subject, List<Cost>> costs, Subject subject) {
        return Spread.of(Rounds.of(costs, subject), Cost::nanos).median();
    }

    private static double bytes(Map<Subject, List<Cost>> costs, Subject subject) {
        return Spread.of(Rounds.of(costs, subject), Cost::bytes).median();
    }
}
