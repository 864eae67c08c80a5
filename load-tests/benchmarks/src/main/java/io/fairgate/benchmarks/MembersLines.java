package io.fairgate.benchmarks;

import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The operations of the permit core for twenty active tenants: among 20,000 members against 20 members. */
public final class MembersLines {

    /** The limit of the ratio; one step for each member would cost far more. */
    public static final double MOST_RATIO = 1.1;

    public static final int MANY = 20_000;
    public static final int FEW = ConfiguredMembers.ACTIVE;

    private MembersLines() {}

    static List<Subject> all() {
        return List.of(
                subject("a request that does not wait", "grant"),
                subject("release, grant and enqueue in a full pool", "grantContended"),
                subject("a refusal because the queue is full", "refuse"),
                subject("a check of two quotas", "checkQuotas"),
                subject("a charge of two quotas", "chargeQuotas"),
                subject("the numbers of one tenant (`standing`)", "standing"),
                subject("the totals of a pool (`totals`)", "totals"),
                subject("the numbers of a pool and its active tenants (`snapshot`)", "snapshot"));
    }

    private static Subject subject(String name, String method) {
        return Subject.of(name, MembersBenchmark.class, method, 1).with(Map.of("members", Integer.toString(MANY)));
    }

    /** Measures every operation in each round, in new JVMs; returns the rows of a table. */
    public static String measure(int rounds) throws RunnerException {
        Map<Subject, List<FewAndMany>> measured = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (Subject subject : all()) {
                FewAndMany pair = run(Rounds.options(subject)
                        .forks(1)
                        .jvmArgs("-Xms1g", "-Xmx1g", "-Xbatch")
                        .warmupIterations(4)
                        .warmupTime(TimeValue.seconds(1))
                        .measurementIterations(30)
                        .measurementTime(TimeValue.milliseconds(100)));
                measured.computeIfAbsent(subject, s -> new ArrayList<>()).add(pair);
                System.out.printf("round %d: %s: %s: %.3f%n", round, subject.method(), pair, pair.ratio());
            }
        }
        return rows(measured);
    }

    static FewAndMany run(ChainedOptionsBuilder options) throws RunnerException {
        RunResult result = new Runner(options.build()).runSingle();
        List<IterationResult> iterations = result.getBenchmarkResults().stream()
                .flatMap(fork -> fork.getIterationResults().stream())
                .toList();
        return new FewAndMany(median(iterations, "few"), median(iterations, "many"));
    }

    private static double median(List<IterationResult> iterations, String counter) {
        return Spread.of(
                        iterations,
                        iteration -> Objects.requireNonNull(
                                        iteration.getSecondaryResults().get(counter), counter)
                                .getScore())
                .median();
    }

    static String rows(Map<Subject, List<FewAndMany>> measured) {
        return measured.entrySet().stream()
                .map(each -> row(each.getKey().name(), each.getValue()))
                .collect(Collectors.joining());
    }

    /** The cost of one operation, its ratio, and whether that is within the limit. */
    public static String row(String name, List<FewAndMany> rounds) {
        Comparison comparison = new Comparison(Spread.of(rounds, FewAndMany::ratio), MOST_RATIO, 1);
        return "| %s | %s | %s | %s | %s |\n"
                .formatted(
                        name,
                        Formats.time(Spread.of(rounds, FewAndMany::few).median()),
                        Formats.time(Spread.of(rounds, FewAndMany::many).median()),
                        Formats.ratio(comparison.ratios()),
                        Formats.verdict(comparison.holds()));
    }

    /** Measures the core only, and writes no file. */
    public static void main(String[] args) throws RunnerException {
        System.out.print(measure(Integer.getInteger("fairgate.rounds", 5)));
    }
}
