package io.fairgate.spring.refusal;

import io.fairgate.spring.exchange.WholeNumber;

import io.fairgate.policy.QuotaTerms;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.YearMonth;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Tells a client how its quotas stand: by the fields of the IETF draft <i>RateLimit header fields for HTTP</i>
 * (draft-ietf-httpapi-ratelimit-headers-10), as structured fields (RFC 9651), or by those that were usual before it. What
 * is left is rounded down and time is rounded up, so that nobody is promised more than there is.
 *
 * <p>Nothing is formatted here: that would write the digits of the locale, which no field may have.
 */
public final class RateLimitFields {

    static final String POLICY = "RateLimit-Policy";
    static final String LIMIT = "RateLimit";

    static final String LEGACY_LIMIT = "X-RateLimit-Limit";
    static final String LEGACY_REMAINING = "X-RateLimit-Remaining";
    static final String LEGACY_RESET = "X-RateLimit-Reset";

    /** Of the upstream's fields. Looking for names goes as deep as a name is long, and no honest line is longer. */
    private static final int LONGEST_LINE = 500;

    private static final BigInteger LARGEST_INTEGER = BigInteger.valueOf(999_999_999_999_999L);

    private static final Pattern NAME = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** Some tell a window behind it: {@code 40;w=60}. */
    private static final Pattern LEADING_NUMBER = Pattern.compile("\\s*([0-9]+)\\s*(;.*)?");

    private RateLimitFields() {}

    /** Adds the fields; what the upstream sent under their names is never made more permissive, for its limits hold too. */
    public static void add(HttpHeaders headers, List<Balance> balances, QuotaTerms.Told told) {
        if (balances.isEmpty()) {
            return;
        }
        switch (told) {
            case DRAFT -> addDraft(headers, balances);
            case LEGACY -> setLegacy(headers, balances);
            case NONE -> {}
        }
    }

    // ---- the draft ----

    /** The upstream's items stay as they are; ours follow, under names that it has not taken. */
    private static void addDraft(HttpHeaders headers, List<Balance> balances) {
        Set<String> taken = new HashSet<>();
        for (String field : List.of(POLICY, LIMIT)) {
            for (String line : headers.getOrDefault(field, List.of())) {
                if (line.length() > LONGEST_LINE) {
                    continue;
                }
                Matcher names = NAME.matcher(line);
                while (names.find()) {
                    taken.add(Objects.requireNonNull(names.group(1)));
                }
            }
        }
        headers.add(POLICY, joined(balances, balance -> policy(name(balance, taken), balance.quota())));
        headers.add(LIMIT, joined(balances, balance -> limit(name(balance, taken), balance)));
    }

    private static String joined(List<Balance> balances, Function<Balance, String> item) {
        return balances.stream().map(item).collect(Collectors.joining(", "));
    }

    private static String name(Balance balance, Set<String> taken) {
        String name = balance.of().label();
        while (taken.contains(name)) {
            name = "fairgate/" + name;
        }
        return name;
    }

    private static String policy(String name, Quota quota) {
        Long window = windowSeconds(quota);
        return "\"" + name + "\";q=" + most(quota) + (window == null ? "" : ";w=" + window);
    }

    private static String limit(String name, Balance balance) {
        boolean ends = !balance.untilFull().equals(Balance.NEVER);
        return "\"" + name + "\";r=" + balance.remaining() + (ends ? ";t=" + secondsUp(balance.untilFull()) : "");
    }

    /** The most that can be left. A rate may hold more than its limit; it is told with the time in which that much comes back. */
    private static long most(Quota quota) {
        return quota instanceof Quota.Rate rate ? Math.max(rate.limit(), rate.burst()) : quota.limit();
    }

    /**
     * Days of 23 or 25 hours and months of their own length are told as the usual day and the longest month; null for a
     * window that does not end, or for longer than an Integer of a structured field can tell.
     */
    private static @Nullable Long windowSeconds(Quota quota) {
        if (quota instanceof Quota.Rate rate) {
            BigInteger seconds = BigDecimal.valueOf(rate.per().toNanos())
                    .multiply(BigDecimal.valueOf(most(rate)))
                    .divide(BigDecimal.valueOf(rate.limit()).scaleByPowerOfTen(9), 0, RoundingMode.CEILING)
                    .toBigInteger();
            return seconds.compareTo(LARGEST_INTEGER) > 0 ? null : seconds.longValueExact();
        } else if (quota instanceof Quota.Sliding sliding) {
            return Math.max(1, secondsUp(sliding.within()));
        } else if (quota instanceof Quota.Calendar calendar) {
            return switch (calendar.per()) {
                case HOUR -> Duration.ofHours(1).toSeconds();
                case DAY -> Duration.ofDays(1).toSeconds();
                case WEEK -> Duration.ofDays(7).toSeconds();
                case MONTH ->
                    Duration.ofDays(YearMonth.of(2000, 1).lengthOfMonth()).toSeconds();
            };
        }
        return null;
    }

    // ---- what was usual before ----

    /** One quota only fits in: the one with the least left, unless the upstream tells of still less. */
    private static void setLegacy(HttpHeaders headers, List<Balance> balances) {
        Balance least = balances.stream()
                .min(Comparator.comparingLong(Balance::remaining)
                        .thenComparing(Balance::untilFull, Comparator.reverseOrder()))
                .orElseThrow();
        if (theirs(headers) <= least.remaining()) {
            return;
        }
        headers.set(LEGACY_LIMIT, Long.toString(most(least.quota())));
        headers.set(LEGACY_REMAINING, Long.toString(least.remaining()));
        headers.remove(LEGACY_RESET);
        if (!least.untilFull().equals(Balance.NEVER)) {
            headers.set(LEGACY_RESET, Long.toString(secondsUp(least.untilFull())));
        }
    }

    /** The least that the upstream tells of; nothing when it tells what cannot be read, for that may be less than ours. */
    private static long theirs(HttpHeaders headers) {
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
        return duration.plusNanos(999_999_999).toSeconds();
    }
}
