package io.fairgate.spring.refusal;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/**
 * Spreads the times to retry, so that clients that are refused together do not come back together. A time is never
 * shortened, because the request could not pass earlier. A wait of less than a second stays as it is. Another one is
 * extended by a random number of whole seconds: by at most a tenth of it, but at least up to one second, because the
 * header holds whole seconds, and at most up to a minute, because a client that was refused for a month must not stay
 * away for days longer.
 *
 * @param random gives a number from 0 to below its argument
 */
public record RetryAfter(LongUnaryOperator random) {

    private static final long MOST = 60;

    public static final RetryAfter RANDOM =
            new RetryAfter(bound -> ThreadLocalRandom.current().nextLong(bound));

    public Duration spread(Duration wait) {
        long seconds = RateLimitFields.secondsUp(wait);
        long most = wait.toSeconds() < 1 ? 0 : Math.min(MOST, Math.max(1, seconds / 10));
        return wait.plusSeconds(random.applyAsLong(most + 1));
    }
}
