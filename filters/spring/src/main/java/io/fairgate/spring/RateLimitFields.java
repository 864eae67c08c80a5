package io.fairgate.spring;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;
import java.time.YearMonth;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.http.HttpHeaders;

/**
 * The fields of the IETF draft <i>RateLimit header fields for HTTP</i> (draft-ietf-httpapi-ratelimit-headers-10), as
 * structured fields (RFC 9651). What is left is rounded down and time is rounded up, so that nobody is promised more
 * than there is.
 */
final class RateLimitFields {

    static final String POLICY = "RateLimit-Policy";
    static final String LIMIT = "RateLimit";

    private RateLimitFields() {}

    /** Adds both fields; what the upstream sent under these names stays, for its limits hold as well. */
    static void add(HttpHeaders headers, List<Balance> balances) {
        headers.add(POLICY, balances.stream().map(RateLimitFields::policy).collect(Collectors.joining(", ")));
        headers.add(LIMIT, balances.stream().map(RateLimitFields::limit).collect(Collectors.joining(", ")));
    }

    private static String policy(Balance balance) {
        Quota quota = balance.quota();
        return "\"%s\";q=%d;w=%d".formatted(quota.name(), quota.limit(), windowSeconds(quota));
    }

    private static String limit(Balance balance) {
        return "\"%s\";r=%d;t=%d"
                .formatted(balance.quota().name(), balance.remaining(), secondsUp(balance.untilFull()));
    }

    /** Days of 23 or 25 hours and months of their own length are told as the usual day and the longest month. */
    private static long windowSeconds(Quota quota) {
        if (quota instanceof Quota.Rate rate) {
            return Math.max(1, secondsUp(rate.per()));
        }
        return switch (((Quota.Calendar) quota).per()) {
            case DAY -> Duration.ofDays(1).toSeconds();
            case MONTH -> Duration.ofDays(YearMonth.of(2000, 1).lengthOfMonth()).toSeconds();
        };
    }

    static long secondsUp(Duration duration) {
        return duration.plusNanos(999_999_999).toSeconds();
    }
}
