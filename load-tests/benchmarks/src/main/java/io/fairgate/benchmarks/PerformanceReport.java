package io.fairgate.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryManagerMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.openjdk.jmh.runner.RunnerException;

/** Measures everything, and writes {@code docs/performance.md}. */
public final class PerformanceReport {

    private static final int ITEMS = 10_000;
    private static final int COLUMNS = 120;
    private static final Pattern BLANKS = Pattern.compile("\\s+");

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
            String machine = machine();
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
        return HEAD.formatted(wrapped(HOW.formatted(machine, rounds), ""))
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
            are those of one machine.

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
        return "| %s | %s | %s | %s | **%s** (%s to %s) | %s | %s |\n"
                .formatted(
                        line.name(),
                        time(nanos(costs, line.measured())),
                        line.baselines().stream().map(Subject::name).collect(Collectors.joining(", ")),
                        time(nanos(costs, fastest)),
                        number("%.2f", comparison.ratio()),
                        number("%.2f", comparison.least()),
                        number("%.2f", comparison.most()),
                        comparison.isWanted() ? number("at most %.1f", line.limit()) : "",
                        verdict(line, comparison));
    }

    private static String verdict(Line line, Comparison comparison) {
        if (!comparison.isWanted()) {
            return "";
        }
        return line.measured().threads() > 1 && !comparison.ranAtOnce()
                ? "not measured: the threads did not run at once"
                : verdict(comparison.holds());
    }

    private static final String MEANINGS = """

            If a line is compared with two others, the faster one counts.

            ## What the lines mean, and what bounds them

            """;

    private static String meaning(Line line) {
        return wrapped(
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
        return number(
                        "| `tryAcquire` and `release` | %.0f | at most the handle: %.0f | %s |\n",
                        ofTryAcquire, memory.handle(), verdict(ofTryAcquire < memory.handle() + 1))
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
        return number("| %s | %.0f | at most %d | %s |\n", what, bytes, limit, verdict(bytes <= limit));
    }

    private static String unbounded(String what, double bytes) {
        return number("| %s | %.0f | | |\n", what, bytes);
    }

    static String verdict(boolean holds) {
        return holds ? "yes" : "**no**";
    }

    private static double nanos(Map<Subject, List<Cost>> costs, Subject subject) {
        return Rounds.median(Rounds.of(costs, subject).stream().map(Cost::nanos).toList());
    }

    private static double bytes(Map<Subject, List<Cost>> costs, Subject subject) {
        return Rounds.median(Rounds.of(costs, subject).stream().map(Cost::bytes).toList());
    }

    static String time(double nanos) {
        if (nanos >= 1e6) {
            return number(nanos < 1e7 ? "%.1f ms" : "%.0f ms", nanos / 1e6);
        }
        if (nanos >= 1e4) {
            return number("%.0f µs", nanos / 1e3);
        }
        return number(nanos < 100 ? "%.1f ns" : "%.0f ns", nanos);
    }

    static String number(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /** What the numbers depend on most. The load is that before the run, so it shows other programs and not the benchmarks. */
    private static String machine() {
        Runtime runtime = Runtime.getRuntime();
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(MemoryManagerMXBean::getName)
                .findFirst()
                .map(name -> name.replaceFirst(" .*", ""))
                .orElse("no collector");
        return number(
                "Measured on %d cores (%s, %s) with JDK %s (%s); load before it began: %.1f",
                runtime.availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.version().feature(),
                collectors,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String wrapped(String text, String indent) {
        StringBuilder done = new StringBuilder();
        String line = "";
        for (String word : BLANKS.splitAsStream(text).toList()) {
            String longer = line.isBlank() ? line + word : line + " " + word;
            if (longer.length() > COLUMNS) {
                done.append(line).append('\n');
                longer = indent + word;
            }
            line = longer;
        }
        return done.append(line).append('\n').toString();
    }
}
