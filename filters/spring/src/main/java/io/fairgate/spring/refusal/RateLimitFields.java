package io.fairgate.spring.refusal;

import io.fairgate.policy.QuotaTerms.HeaderStyle;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.spring.exchange.WholeNumber;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Adds the balances of quotas to a response: as the structured fields (RFC 9651) of the IETF draft <i>RateLimit header
 * fields for HTTP</i> (draft-ietf-httpapi-ratelimit-headers-10), or as the fields that were usual before it. Remaining
 * units are rounded down and times are rounded up, so that no client is promised more than there is.
 *
 * <p>{@code String.format} is not used here: it would write the digits of the locale, which no field may have.
 */
public final class RateLimitFields {

    static final String POLICY = "RateLimit-Policy";
    static final String LIMIT = "RateLimit";

    static final String LEGACY_LIMIT = "X-RateLimit-Limit";
    static final String LEGACY_REMAINING = "X-RateLimit-Remaining";
    static final String LEGACY_RESET = "X-RateLimit-Reset";

    /** The longest line that is searched for names, which takes stack as deep as a name is long. */
    private static final int LONGEST_LINE = 500;

    private static final int INITIAL_LENGTH = 96;

    private static final BigDecimal LARGEST_INTEGER = BigDecimal.valueOf(999_999_999_999_999L);

    private static final Pattern NAME = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** Some upstreams add a window: {@code 40;w=60}. */
    private static final Pattern LEADING_NUMBER = Pattern.compile("\\s*([0-9]+)\\s*(;.*)?");

    private RateLimitFields() {}

    /** Adds the fields. What the upstream sent under their names stays, or gets stricter: its limits hold too. */
    public static void add(HttpHeaders headers, List<Balance> balances, HeaderStyle style) {
        if (balances.isEmpty()) {
            return;
        }
        switch (style) {
            case DRAFT -> addDraft(headers, balances);
            case LEGACY -> setLegacy(headers, balances);
            case NONE -> {}
        }
    }

    // ---- the draft ----

    /** The upstream's items stay as they are; ours follow, under names that it has not taken. */
    private static void addDraft(HttpHeaders headers, List<Balance> balances) {
        Set<String> taken = taken(headers);
        StringBuilder policies = new StringBuilder(INITIAL_LENGTH);
        StringBuilder limits = new StringBuilder(INITIAL_LENGTH);
        for (int i = 0; i < balances.size(); i++) {
            Balance balance = balances.get(i);
            String name = name(balance, taken);
            String separator = i == 0 ? "\"" : ", \"";
            policies.append(separator).append(name).append("\";q=").append(most(balance.quota()));
            Long window = windowSeconds(balance.quota());
            if (window != null) {
                policies.append(";w=").append(window.longValue());
            }
            limits.append(separator).append(name).append("\";r=").append(balance.remaining());
            if (!balance.untilFull().equals(Balance.NEVER)) {
                limits.append(";t=").append(secondsUp(balance.untilFull()));
            }
        }
        headers.add(POLICY, policies.toString());
        headers.add(LIMIT, limits.toString());
    }

    /** The names in the fields that the upstream has sent. */
    private static Set<String> taken(HttpHeaders headers) {
        if (!headers.containsHeader(POLICY) && !headers.containsHeader(LIMIT)) {
            return Set.of();
        }
        Set<String> taken = new HashSet<>();
        for (String field : List.of(POLICY, LIMIT)) {
            for (String line : headers.getOrDefault(field, List.of())) {
                if (line.length() <= LONGEST_LINE) {
                    NAME.matcher(line).results().forEach(name -> taken.add(name.group(1)));
                }
            }
        }
        return taken;
    }

    private static String name(Balance balance, Set<String> taken) {
        String name = balance.of().label();
        while (taken.contains(name)) {
            name = "fairgate/" + name;
        }
        return name;
    }

    /** The largest balance. A rate may hold more than its limit, and its window is the time to get that much back. */
    private static long most(Quota quota) {
        return quota instanceof Quota.Rate rate ? Math.max(rate.limit(), rate.burst()) : quota.limit();
    }

    /**
     * The window in seconds. Days of 23 or 25 hours count as the usual day, and months as the longest one; null for a
     * window that does not end, or is longer than an Integer of a structured field can hold.
     */
    private static @Nullable Long windowSeconds(Quota quota) {
        if (quota instanceof Quota.Rate rate) {
            long most = most(rate);
            if (most == rate.limit()) {
                return secondsUp(rate.per()); // of at most 366 days
            }
            BigDecimal seconds = BigDecimal.valueOf(rate.per().toNanos())
                    .multiply(BigDecimal.valueOf(most))
                    .divide(BigDecimal.valueOf(rate.limit()).scaleByPowerOfTen(9), 0, RoundingMode.CEILING);
            return seconds.compareTo(LARGEST_INTEGER) > 0 ? null : seconds.longValueExact();
        } else if (quota instanceof Quota.Sliding sliding) {
            return Math.max(1, secondsUp(sliding.within()));
        } else if (quota instanceof Quota.Calendar calendar) {
            return switch (calendar.per()) {
                case HOUR -> Duration.ofHours(1).toSeconds();
                case DAY -> Duration.ofDays(1).toSeconds();
                case WEEK -> Duration.ofDays(7).toSeconds();
                case MONTH -> Duration.ofDays(31).toSeconds();
            };
        }
        return null;
    }

    // ---- the fields that were usual before ----

    /** Sets the fields of one quota, the least balance, unless the upstream's show one that is not larger. */
    private static void setLegacy(HttpHeaders headers, List<Balance> balances) {
        Balance least = balances.stream()
                .min(Comparator.comparingLong(Balance::remaining)
                        .thenComparing(Balance::untilFull, Comparator.reverseOrder()))
                .orElseThrow();
        if (balanceOfUpstream(headers) <= least.remaining()) {
            return;
        }
        headers.set(LEGACY_LIMIT, Long.toString(most(least.quota())));
        headers.set(LEGACY_REMAINING, Long.toString(least.remaining()));
        headers.remove(LEGACY_RESET);
        if (!least.untilFull().equals(Balance.NEVER)) {
            headers.set(LEGACY_RESET, Long.toString(secondsUp(least.untilFull())));
        }
    }

    /** The smallest balance in the upstream's fields; 0 when one cannot be read, because it may be less than ours. */
    private static long balanceOfUpstream(HttpHeaders headers) {
        long least = Long.MAX_VALUE;
        for (String line : headers.getOrDefault(LEGACY_REMAINING, List.of())) {
            for (String item : line.split(",", -1)) {
                Matcher number = LEADING_NUMBER.matcher(item);
                least = number.matches() ? Math.min(least, Objects.requireNonNull(WholeNumber.of(number.group(1)))) : 0;
            }
        }
        return least;
    }

    static long secondsUp(Duration duration) {
        return duration.getSeconds() + (duration.getNano() > 0 ? 1 : 0);
    }
}
