package io.fairgate.spring.refusal;

import io.fairgate.policy.Policy;
import java.time.Duration;

/**
 * What a refusal depends on beside its reason.
 *
 * @param policy the policy that is in force
 * @param retryAfter spreads the times at which clients retry
 */
public record RefusalTerms(Policy policy, RetryAfter retryAfter) {

    /** A time to wait, spread so that not all clients retry at once. */
    public Duration spread(Duration wait) {
        return retryAfter.spread(wait);
    }
}
