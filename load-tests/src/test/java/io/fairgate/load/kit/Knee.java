package io.fairgate.load.kit;

import java.util.Comparator;
import java.util.List;

/**
 * How many permits a step test recommends: the fewest connections with which an API gives 95 % of the most answers that it can give in
 * a second. More make requests wait inside the API, where no tenant is protected from another. The most is the mean of the two best
 * steps, since the best one alone is partly luck.
 *
 * @param permits the recommendation
 * @param isReached false if no step has at least twice as many connections: the true number may then be higher
 * @param falls whether the API gave less than 90 % of its most in both of the last two steps
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

    /**
     * Looks for it.
     *
     * @param steps at least three, with more and more connections
     */
    static Knee of(List<Step> steps) {
        double most = steps.stream()
                .mapToDouble(Step::perSecond)
                .boxed()
                .sorted(Comparator.reverseOrder())
                .limit(2)
                .mapToDouble(perSecond -> perSecond)
                .average()
                .orElse(0);
        Step knee = steps.stream()
                .filter(step -> step.perSecond() >= OF_THE_MOST * most)
                .findFirst()
                .orElseThrow();
        int last = steps.get(steps.size() - 1).connections();
        boolean falls = steps.subList(steps.size() - 2, steps.size()).stream()
                .allMatch(step -> step.connections() > knee.connections() && step.perSecond() < FALLEN * most);
        int mostPower = steps.stream()
                .max(Comparator.comparingDouble(Step::power))
                .orElse(knee)
                .connections();
        return new Knee(knee.connections(), last >= 2 * knee.connections(), falls, mostPower);
    }

    String sentence() {
        if (!isReached) {
            return "No recommendation: from %d connections on, too few steps follow to say that the answers do not grow. Add steps up to %d at least."
                    .formatted(permits, 2 * permits);
        }
        return "Recommended: permits: " + permits + ", the fewest with 95 % of the most answers in a second."
                + (falls ? " With many more the API answers less, so it needs the limit." : "")
                + " The most answers for their time: " + mostPower + ".";
    }
}
