package io.fairgate.benchmarks.gateway;

import java.time.Duration;

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
}
