package io.fairgate.quota;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.ZoneId;

/** Units that a tenant, or a group of tenants, may use per window. */
public sealed interface Quota {

    /** The name in header fields, metrics and refusals; unique among the quotas of its owner. */
    String name();

    /** Units per window, at least 1. */
    long limit();

    /** The largest limit: an Integer of a structured field (RFC 9651, 15 digits) with room for sums. */
    long MAX_LIMIT = 1_000_000_000_000L;

    /**
     * A rate, as the generic cell rate algorithm (ITU-T I.371, annex A): in any interval of length {@code t} at most
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
            requireWindow("per", per);
        }
    }

    /**
     * At most {@code limit} units in any window of the length {@code within}, wherever it begins. It may admit a little less:
     * a unit comes back up to a sixtieth of {@code within} later than it could.
     *
     * @param within the length of the window, from 1 ms to 366 days
     */
    record Sliding(String name, long limit, Duration within) implements Quota {
        public Sliding {
            requireName(name);
            requireLimit("limit", limit);
            requireWindow("within", within);
        }
    }

    /**
     * Units per calendar hour, day, week or month of a time zone; the balance is full again when the next window begins.
     */
    record Calendar(String name, long limit, CalendarUnit per, ZoneId zone) implements Quota {
        public Calendar {
            requireName(name);
            requireLimit("limit", limit);
        }
    }

    /** Units in total; used units do not come back. */
    record Total(String name, long limit) implements Quota {
        public Total {
            requireName(name);
            requireLimit("limit", limit);
        }
    }

    /** The window of a calendar quota. */
    enum CalendarUnit {
        HOUR,
        DAY,
        /** From Monday on (ISO 8601). */
        WEEK,
        MONTH
    }

    private static void requireName(String name) {
        if (!TenantId.isWellFormed(name)) {
            throw new IllegalArgumentException(
                    "name: %s (expected: 1 to 64 characters of [A-Za-z0-9._-])".formatted(name));
        }
    }

    private static void requireLimit(String key, long value) {
        if (value < 1 || value > MAX_LIMIT) {
            throw new IllegalArgumentException("%s: %d (expected: 1 to %d)".formatted(key, value, MAX_LIMIT));
        }
    }

    private static void requireWindow(String key, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofDays(366)) > 0) {
            throw new IllegalArgumentException("%s: %s (expected: 1ms to 366d)".formatted(key, value));
        }
    }
}
