package io.fairgate.spring.refusal;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * Spreads the times to retry, so that those who are refused together do not come back together. Never earlier than the
 * request could pass; from a second on up to a tenth later, at least one second, because whole seconds are told, and at most
 * a minute, because nobody is to stay away for days who was refused for a month.
 *
 * @param random a number from 0 to below the given one
 */
record RetryAfter(LongUnaryOperator random) {

    private static final long MOST = 60;

    static final RetryAfter RANDOM =
            new RetryAfter(bound -> ThreadLocalRandom.current().nextLong(bound));

    Duration spread(Duration wait) {
        long seconds = RateLimitFields.secondsUp(wait);
        long most = wait.toSeconds() < 1 ? 0 : Math.min(MOST, Math.max(1, seconds / 10));
        return wait.plusSeconds(random.applyAsLong(most + 1));
    }
}
