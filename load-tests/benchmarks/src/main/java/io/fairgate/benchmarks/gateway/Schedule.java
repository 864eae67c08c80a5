package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * How often and for how long is measured.
 *
 * @param forks how often all gateways are started anew, because a JVM compiles differently from start to start
 * @param rounds for each fork; each round measures all gateways, one after the other
 * @param time of one measurement
 * @param warmUps turns of all gateways before the first round
 * @param warmUpRequests for each gateway in each of these turns
 * @param isQuick whether the run only shows that the comparison works: its numbers are not to be published
 */
record Schedule(int forks, int rounds, Duration time, int warmUps, long warmUpRequests, boolean isQuick) {

    /** As the options of the profiles in the pom say. */
    static Schedule fromProperties() {
        return Boolean.getBoolean("fairgate.quick")
                ? new Schedule(1, 1, Duration.ofSeconds(2), 1, 2_000, true)
                : new Schedule(
                        Integer.getInteger("fairgate.forks", 3),
                        Integer.getInteger("fairgate.rounds", 3),
                        Duration.ofSeconds(Integer.getInteger("fairgate.seconds", 10)),
                        10,
                        30_000,
                        false);
    }

    /**
     * Formats what a report says of its measurement.
     *
     * @param others the processors that other programs used meanwhile
     * @param own values of the report, which the text names before those of the schedule
     */
    String describe(String text, Spread others, Object... own) {
        Stream<Object> all = Stream.concat(
                Stream.of(own),
                Stream.of(
                        forks,
                        Formats.number("%,d", warmUps * warmUpRequests),
                        time.toSeconds(),
                        rounds,
                        others.median(),
                        others.most(),
                        ComparisonRun.DISTURBED,
                        ComparisonRun.ATTEMPTS - 1));
        return Formats.number(text, all.toArray());
    }
}
