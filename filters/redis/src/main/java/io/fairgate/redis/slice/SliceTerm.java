package io.fairgate.redis.slice;

import java.time.Duration;

/**
 * The times of the protocol, the same on all nodes.
 *
 * @param ttl how long the ledger keeps the slice of a silent node
 * @param maxStep the most that the ledger's clock follows a leap of the clock of Redis; more than the pauses between calls
 * @param drift the most by which two clocks differ in rate, as a fraction
 * @param margin what the node ends earlier for the time between its look at the clock and its action
 * @param grace how long before the end of its term a node grants nothing more, so that requests end in time
 */
record SliceTerm(Duration ttl, Duration maxStep, double drift, Duration margin, Duration grace) {

    /** Three seconds, as heartbeats come ten times a second. */
    static final SliceTerm USUAL = new SliceTerm(
            Duration.ofSeconds(3), Duration.ofMillis(500), 0.001, Duration.ofMillis(50), Duration.ofMillis(500));

    SliceTerm {
        if (usableNanos(ttl, maxStep, drift, margin) <= grace.toNanos() || grace.isNegative()) {
            throw new IllegalArgumentException(
                    "ttl %s, maxStep %s, drift %s, margin %s, grace %s (expected: a ttl that leaves more than the grace)"
                            .formatted(ttl, maxStep, drift, margin, grace));
        }
    }

    private static long usableNanos(Duration ttl, Duration maxStep, double drift, Duration margin) {
        return (long) (ttl.toNanos() * (1 - 2 * drift)) - maxStep.toNanos() - margin.toNanos();
    }

    /** From the sending of a heartbeat to the end of the term that its answer gives. */
    long nanos() {
        return usableNanos(ttl, maxStep, drift, margin);
    }

    /** From the sending of a heartbeat to the last grant. */
    long grantNanos() {
        return nanos() - grace.toNanos();
    }
}
