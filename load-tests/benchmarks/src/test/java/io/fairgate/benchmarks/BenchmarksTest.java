package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Every benchmark runs; its speed is not tested. */
class BenchmarksTest {

    static Collection<Subject> subjects() {
        return Rounds.subjects(Lines.all());
    }

    @ParameterizedTest
    @MethodSource("subjects")
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void every_benchmark_of_the_report_runs(Subject subject) throws RunnerException {
        Cost cost = Rounds.run(once(subject), subject);

        assertThat(cost.nanos()).isPositive();
    }

    static Collection<Subject> membersSubjects() {
        return MembersLines.all();
    }

    @ParameterizedTest
    @MethodSource("membersSubjects")
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void every_benchmark_of_configured_members_runs(Subject subject) throws RunnerException {
        FewAndMany pair = MembersLines.run(once(subject));

        assertThat(pair.few()).isPositive();
        assertThat(pair.many()).isPositive();
    }

    private static ChainedOptionsBuilder once(Subject subject) {
        return Rounds.options(subject)
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(20));
    }
}
