package io.fairgate.quota;

import java.time.Duration;
import java.time.ZoneId;
import java.util.regex.Pattern;

/** Units that a tenant may use per window. */
public sealed interface Quota {

    /** What it is called in header fields, metrics and refusals; unique among a tenant's quotas. */
    String name();

    /** Units per window, at least 1. */
    long limit();

    /** The largest limit: it is an Integer of a structured field (RFC 9651, 15 digits) with room for sums. */
    long MAX_LIMIT = 1_000_000_000_000L;

    /**
     * A rate, as the generic cell rate algorithm (ITU-T I.371, section A): in any interval of length {@code t} at most
     * {@code burst + limit * t / per} units.
     *
     * @param per the window, from 1 ms to 366 days
     * @param burst units that may be used at once after a pause; {@code limit} unless configured
     */
    record Rate(String name, long limit, Duration per, long burst) implements Quota {
        public Rate {
            requireName(name);
            requireLimit("limit", limit);
            requireLimit("burst", burst);
            if (per.compareTo(Duration.ofMillis(1)) < 0 || per.compareTo(Duration.ofDays(366)) > 0) {
                throw new IllegalArgumentException("per: %s (expected: 1ms to 366d)".formatted(per));
            }
        }
    }

    /** Units per calendar day or month of a time zone; the balance is full again when the next one begins. */
    record Calendar(String name, long limit, CalendarUnit per, ZoneId zone) implements Quota {
        public Calendar {
            requireName(name);
            requireLimit("limit", limit);
        }
    }

    /** The window of a calendar quota. */
    enum CalendarUnit {
        DAY,
        MONTH
    }

    private static void requireName(String name) {
        if (!QuotaNames.ALLOWED.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "name: %s (expected: 1 to 64 characters of [A-Za-z0-9._-])".formatted(name));
        }
    }

    private static void requireLimit(String key, long value) {
        if (value < 1 || value > MAX_LIMIT) {
            throw new IllegalArgumentException("%s: %d (expected: 1 to %d)".formatted(key, value, MAX_LIMIT));
        }
    }
}

/** Holds the pattern, which an interface could only make public. */
final class QuotaNames {
    static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private QuotaNames() {}
}
