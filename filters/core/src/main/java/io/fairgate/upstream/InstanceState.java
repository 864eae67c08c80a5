package io.fairgate.upstream;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a {@link Balancer} knows about one instance. */
final class InstanceState<T> {

    /** Within this time a burden falls to about a third. */
    private static final double BURDEN_NANOS = 1e9;

    /** A smaller burden is none: otherwise idle instances would never be equal again. */
    private static final double LEAST_BURDEN = 0.05;

    /** A request that was given up after this time, while the instance answered nothing at all, counts as a failure. */
    private static final long SILENT_NANOS = 1_000_000_000;

    final T instance;
    int weight = 1;
    int inFlight;

    /** In a row. */
    int failures;

    /** Of these, the last ones that were {@link Outcome#UNREACHABLE}. */
    int unreachable;

    boolean isReady = true;
    boolean isAside;
    boolean isProbed;
    private long probedAt;

    /** Of the requests in flight, those of pools with a limit. */
    private final Map<String, Integer> ofPools = new HashMap<>(1);

    /** Requests of an earlier epoch say nothing about the present state. */
    int epoch;

    private long asideUntil;
    long lastAside;
    long backAt;
    long answeredAt = Long.MIN_VALUE;
    double turn;

    private double burden;
    private long burdenAt;

    InstanceState(T instance) {
        this.instance = instance;
    }

    boolean isInUse() {
        return isReady && !isAside;
    }

    /** Whether the next request may be its probe. */
    boolean isDue(long now) {
        return isAside && isReady && (!isProbed || now - probedAt >= SILENT_NANOS) && now - asideUntil >= 0;
    }

    /** A probe that is not answered soon may be waiting for its client, so that the next one need not wait for it. */
    void probe(long now) {
        isProbed = true;
        probedAt = now;
    }

    void add(@Nullable String pool, int requests) {
        inFlight += requests;
        if (pool != null) {
            int left = inFlight(pool) + requests;
            if (left == 0) {
                ofPools.remove(pool);
            } else {
                ofPools.put(pool, left);
            }
        }
    }

    int inFlight(String pool) {
        return ofPools.getOrDefault(pool, 0);
    }

    boolean hasRoom(Balancer.@Nullable Limit limit) {
        return limit == null || inFlight(limit.pool()) < (long) limit.most() * weight;
    }

    double load(long now) {
        return (inFlight + burden(now)) / weight;
    }

    private double burden(long now) {
        if (burden != 0) {
            double left = burden * Math.exp((burdenAt - now) / BURDEN_NANOS);
            if (left >= LEAST_BURDEN) {
                return left;
            }
            burden = 0;
        }
        return 0;
    }

    void addBurden(long now) {
        burden = burden(now) + 1;
        burdenAt = now;
    }

    boolean isSilent(long since, long now) {
        return now - since >= SILENT_NANOS && answeredAt < since;
    }

    void putAside(long now, long nanos) {
        isAside = true;
        isProbed = false;
        asideUntil = now + nanos;
        epoch++;
    }

    void back(long now) {
        isAside = false;
        isProbed = false;
        backAt = now;
        epoch++;
    }

    InstanceStatus<T> status(long now) {
        long aside = isAside ? Math.max(0, asideUntil - now) : -1;
        return new InstanceStatus<>(instance, weight, inFlight, failures, aside, isReady);
    }
}
