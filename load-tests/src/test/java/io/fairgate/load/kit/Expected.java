package io.fairgate.load.kit;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a tenant may expect of a run.
 *
 * @param share the percentage of all answers, or of all permit-time where the plan names the management port; null for any
 * @param refused the highest percentage of its requests that may be refused
 * @param statuses which statuses are answers; empty for 200 to 399
 * @param slowest the longest that a percentage of its answers may take
 */
record Expected(@Nullable Double share, double refused, Set<Integer> statuses, Map<Integer, Duration> slowest) {

    Expected {
        statuses = Set.copyOf(statuses);
        slowest = Map.copyOf(slowest);
    }

    Outcome outcomeOf(int status) {
        boolean isAnswer = statuses.isEmpty() ? status >= 200 && status < 400 : statuses.contains(status);
        if (isAnswer) {
            return Outcome.ANSWERED;
        }
        return status == 429 || status == 503 ? Outcome.REFUSED : Outcome.FAILED;
    }
}
