package io.fairgate.load.kit;

import java.util.Comparator;
import java.util.List;

/**
 * How many permits a step test recommends: the fewest connections with which an API gives 95 % of the most answers that it can give in
 * a second. More make requests wait inside the API, where no tenant is protected from another.
 *
 * @param permits the recommendation
 * @param isReached false if the answers in a second still grew at the last step, so that the true number may be higher
 * @param falls whether the API gave less than 90 % of its most with the connections of the last step
 * @param mostPower the connections with the most throughput for the time of an answer (L. Kleinrock, "Power and deterministic rules
 *     of thumb for probabilistic problems in computer communications", 1979)
 */
record Knee(int permits, boolean isReached, boolean falls, int mostPower) {

    private static final double OF_THE_MOST = 0.95;
    private static final double FALLEN = 0.9;

    /** One step of a test. */
    record Step(int connections, double perSecond, double millis) {

        double power() {
            return perSecond / Math.max(1, millis);
        }
    }

    static Knee of(List<Step> steps) {
        double most = steps.stream().mapToDouble(Step::perSecond).max().orElse(0);
        Step knee = steps.stream()
                .filter(step -> step.perSecond() >= OF_THE_MOST * most)
                .findFirst()
                .orElseThrow();
        Step last = steps.get(steps.size() - 1);
        int mostPower = steps.stream()
                .max(Comparator.comparingDouble(Step::power))
                .orElse(knee)
                .connections();
        return new Knee(
                knee.connections(),
                knee.connections() != last.connections(),
                last.perSecond() < FALLEN * most,
                mostPower);
    }

    String sentence() {
        if (!isReached) {
            return "Still growing with " + permits + " connections: add more steps before you choose the permits.";
        }
        return "Recommended: permits: " + permits + ", the fewest with 95 % of the most answers in a second."
                + (falls ? " With many more the API answers less, so it needs the limit." : "")
                + " The most answers for their time: " + mostPower + ".";
    }
}
