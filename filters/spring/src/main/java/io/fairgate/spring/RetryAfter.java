package io.fairgate.spring;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * Spreads the times to retry, so that those who are refused together do not come back together. Never earlier than the
 * request could pass; up to a tenth later, once that is a second: below ten seconds the rounding up to whole seconds is
 * more than that.
 *
 * @param random a number from 0 to below the given one
 */
record RetryAfter(LongUnaryOperator random) {

    static final RetryAfter RANDOM =
            new RetryAfter(bound -> ThreadLocalRandom.current().nextLong(bound));

    Duration spread(Duration wait) {
        long tenth = RateLimitFields.secondsUp(wait) / 10;
        return wait.plusSeconds(random.applyAsLong(tenth + 1));
    }
}
