package io.fairgate.benchmarks;

import io.fairgate.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs benchmarks in rounds: each round runs all of them once, each in a new JVM. So both sides of a comparison are measured
 * within minutes, and a JVM that happens to compile something badly affects only one round.
 */
final class Rounds {

    private static final String BYTES = "gc.alloc.rate.norm";

    private Rounds() {}

    static Map<Subject, List<Cost>> run(List<Line> lines, int rounds) throws RunnerException {
        Collection<Subject> subjects = subjects(lines);
        Map<Subject, List<Cost>> costs = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (Subject subject : subjects) {
                Cost cost = measure(subject);
                costs.computeIfAbsent(subject, s -> new ArrayList<>()).add(cost);
                System.out.printf(
                        "round %d: %s, %d threads, %s: %.1f ns, %.0f bytes, %.2f processors%n",
                        round,
                        subject.method(),
                        subject.threads(),
                        subject.parameters(),
                        cost.nanos(),
                        cost.bytes(),
                        cost.processors());
            }
        }
        return costs;
    }

    /** Each subject once, next to those that it is compared with. */
    static Collection<Subject> subjects(List<Line> lines) {
        return lines.stream()
                .flatMap(line -> Stream.concat(Stream.of(line.measured()), line.baselines().stream()))
                .collect(LinkedHashSet::new, LinkedHashSet::add, LinkedHashSet::addAll);
    }

    static List<Cost> of(Map<Subject, List<Cost>> rounds, Subject subject) {
        return Objects.requireNonNull(rounds.get(subject), () -> "not measured: " + subject);
    }

    /** Compiles in the foreground: on a busy machine a background compilation may take until the end of the run. */
    private static Cost measure(Subject subject) throws RunnerException {
        return run(
                options(subject)
                        .forks(1)
                        .jvmArgs("-Xms1g", "-Xmx1g", "-Xbatch")
                        .warmupIterations(5)
                        .warmupTime(TimeValue.seconds(1))
                        .measurementIterations(30)
                        .measurementTime(TimeValue.milliseconds(100)),
                subject);
    }

    static ChainedOptionsBuilder options(Subject subject) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(subject.pattern())
                .threads(subject.threads())
                .addProfiler(GCProfiler.class)
                .addProfiler(ProcessorsProfiler.class)
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        subject.parameters().forEach(options::param);
        return options;
    }

    static Cost run(ChainedOptionsBuilder options, Subject subject) throws RunnerException {
        RunResult result = new Runner(options.build()).runSingle();
        List<Cost> iterations = result.getBenchmarkResults().stream()
                .flatMap(fork -> fork.getIterationResults().stream())
                .map(iteration -> cost(iteration, subject))
                .toList();
        return leastDisturbed(iterations);
    }

    private static Cost cost(IterationResult iteration, Subject subject) {
        return new Cost(
                iteration.getPrimaryResult().getStatistics().getPercentile(50) / subject.batch(),
                secondary(iteration, BYTES) / subject.batch(),
                secondary(iteration, ProcessorsProfiler.PROCESSORS));
    }

    private static double secondary(IterationResult iteration, String name) {
        return Objects.requireNonNull(iteration.getSecondaryResults().get(name), name)
                .getScore();
    }

    /** The median of that third of the iterations that had the most processors. */
    static Cost leastDisturbed(List<Cost> iterations) {
        List<Cost> undisturbed = iterations.stream()
                .sorted(Comparator.comparingDouble(Cost::processors).reversed())
                .limit((iterations.size() + 2) / 3)
                .toList();
        return new Cost(
                Spread.of(undisturbed, Cost::nanos).median(),
                Spread.of(undisturbed, Cost::bytes).median(),
                Spread.of(undisturbed, Cost::processors).median());
    }
}
