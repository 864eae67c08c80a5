package io.fairgate.redis.slice;

import java.util.Locale;

/**
 * What a process grants of a pool while Redis does not answer.
 *
 * <ul>
 *   <li>{@link #FAIL_CLOSED}: nothing. The pool is never exceeded.
 *   <li>{@link #reserve}: some permits that only this process ever uses. The pool is not exceeded, and the permits that one process keeps
 *       are of no use to the others.
 *   <li>{@link #optimistic}: its part of the pool, divided by the number of processes. While Redis is lost for all of them, the pool is
 *       not exceeded. While it is lost for some only, these have their parts beside the whole pool of the others.
 * </ul>
 *
 * <p>All processes that share a pool must have the same policy. Immutable.
 */
public final class OutagePolicy {

    private enum Kind {
        FAIL_CLOSED,
        RESERVE,
        OPTIMISTIC
    }

    /** Grants nothing. */
    public static final OutagePolicy FAIL_CLOSED = new OutagePolicy(Kind.FAIL_CLOSED, 0, 0);

    private final Kind kind;
    private final int gateways;
    private final double fraction;

    private OutagePolicy(Kind kind, int gateways, double fraction) {
        this.kind = kind;
        this.gateways = gateways;
        this.fraction = fraction;
    }

    /**
     * Each process keeps some permits for itself, always: the same number in all of them, which is at least 1 if that is at most half of the
     * pool. A pool for which this gives 0 has no reserve, and grants nothing while Redis does not answer.
     *
     * @param gateways the most processes that share a pool at once, at least 1
     * @param fraction of the pool for all reserves together, above 0 and at most 1; exceeded where each process keeps 1 permit of a small
     *     pool, but by no more than half of the pool
     * @throws IllegalArgumentException when a number is out of range
     */
    public static OutagePolicy reserve(int gateways, double fraction) {
        if (gateways < 1 || !(fraction > 0 && fraction <= 1)) {
            throw new IllegalArgumentException(
                    "reserve of %s of a pool for %d gateways (expected: a fraction above 0 and at most 1, and 1 gateway or more)"
                            .formatted(fraction, gateways));
        }
        return new OutagePolicy(Kind.RESERVE, gateways, fraction);
    }

    /**
     * Each process has an equal part of the pool, rounded down.
     *
     * @param gateways how many processes share a pool at least; 0 to count those that Redis knew when it answered last, so that a process
     *     that starts while Redis does not answer grants nothing
     * @throws IllegalArgumentException when the number is negative
     */
    public static OutagePolicy optimistic(int gateways) {
        if (gateways < 0) {
            throw new IllegalArgumentException("gateways: %d (expected: >= 0)".formatted(gateways));
        }
        return new OutagePolicy(Kind.OPTIMISTIC, gateways, 0);
    }

    /** The permits of a pool of this size that each process keeps for itself. */
    int reserve(int permits) {
        if (kind != Kind.RESERVE) {
            return 0;
        }
        int most = (int) (permits * fraction / gateways);
        return most == 0 && 2L * gateways <= permits ? 1 : most;
    }

    /** The permits of a pool of this size that the ledger divides. */
    int divided(int permits, int nodes) {
        return (int) Math.max(0, permits - (long) reserve(permits) * Math.max(gateways, nodes));
    }

    /**
     * The permits that a process has while Redis does not answer.
     *
     * @param nodes how many processes shared the pool when Redis answered last; 0 when it never did
     */
    int alone(int permits, int nodes) {
        int all = Math.max(gateways, nodes);
        return switch (kind) {
            case FAIL_CLOSED -> 0;
            case RESERVE -> reserve(permits);
            case OPTIMISTIC -> all == 0 ? 0 : permits / all;
        };
    }

    /** Whether the policy grants nothing of a pool of this size, although it is to grant something. */
    boolean isTooSmall(int permits) {
        return gateways > 0 && alone(permits, gateways) == 0;
    }

    boolean isOptimistic() {
        return kind == Kind.OPTIMISTIC;
    }

    /** As operators write it. */
    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
