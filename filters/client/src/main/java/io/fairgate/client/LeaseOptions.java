package io.fairgate.client;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What to ask for, and for how long.
 *
 * @param pools permits by pool, at least one of each. Several pools are granted all at once or not at all
 * @param ttl how long the lease outlives its holder: 100 milliseconds to 24 hours. It is extended while it is held, so this
 *     only bounds how long the permits of a dead or disconnected holder are in use. The server may shorten it
 * @param maxWait how long to wait for the permits in total, 24 hours at most; zero asks once. The last answer may take some
 *     seconds more ({@link LeaseClient})
 * @param holder a label for operators, up to 64 characters of {@code [A-Za-z0-9._-]}; may be empty
 */
public record LeaseOptions(Map<String, Integer> pools, Duration ttl, Duration maxWait, String holder) {

    private static final Duration SHORTEST_TTL = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Pattern HOLDER = Pattern.compile("[A-Za-z0-9._-]{0,64}");

    public LeaseOptions {
        pools = Collections.unmodifiableMap(new TreeMap<>(pools));
        require(!pools.isEmpty(), "pools", "none", "at least one");
        pools.forEach((pool, permits) -> {
            require(!pool.isBlank(), "pools", "a blank name", "names of pools");
            require(permits >= 1, "permits", permits, ">= 1");
        });
        require(ttl.compareTo(SHORTEST_TTL) >= 0 && ttl.compareTo(LONGEST) <= 0, "ttl", ttl, "PT0.1S to PT24H");
        require(!maxWait.isNegative() && maxWait.compareTo(LONGEST) <= 0, "maxWait", maxWait, "PT0S to PT24H");
        require(HOLDER.matcher(holder).matches(), "holder", holder, "up to 64 of [A-Za-z0-9._-]");
    }

    /** One permit of a pool, with 30 seconds to live, without waiting. */
    public static LeaseOptions of(String pool) {
        return of(pool, 1);
    }

    /** Permits of one pool, with 30 seconds to live, without waiting. */
    public static LeaseOptions of(String pool, int permits) {
        return ofAll(Map.of(pool, permits));
    }

    /** Permits of several pools, all or none, with 30 seconds to live, without waiting. */
    public static LeaseOptions ofAll(Map<String, Integer> pools) {
        return new LeaseOptions(pools, TTL, Duration.ZERO, "");
    }

    public LeaseOptions withTtl(Duration newTtl) {
        return new LeaseOptions(pools, newTtl, maxWait, holder);
    }

    public LeaseOptions withMaxWait(Duration newMaxWait) {
        return new LeaseOptions(pools, ttl, newMaxWait, holder);
    }

    public LeaseOptions withHolder(String newHolder) {
        return new LeaseOptions(pools, ttl, maxWait, newHolder);
    }

    private static void require(boolean holds, String what, Object found, String expected) {
        if (!holds) {
            throw new IllegalArgumentException("%s: %s (expected: %s)".formatted(what, found, expected));
        }
    }
}
