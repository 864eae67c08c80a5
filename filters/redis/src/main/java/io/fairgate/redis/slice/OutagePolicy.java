package io.fairgate.redis.slice;

/**
 * What a process grants of a pool while Redis does not answer.
 *
 * <ul>
 *   <li>{@link #FAIL_CLOSED}: nothing. The pool is never exceeded.
 *   <li>{@link #reserve}: some permits that only this process ever uses. The pool is never exceeded, and the permits that one process
 *       keeps are of no use to the others.
 *   <li>{@link #optimistic}: its part of the pool, divided by the number of processes. While Redis is lost for all of them, the pool is
 *       not exceeded. While it is lost for some only, these have their parts beside the whole pool of the others.
 * </ul>
 *
 * <p>All processes that share a pool must have the same policy.
 */
public final class OutagePolicy {

    /** Grants nothing. */
    public static final OutagePolicy FAIL_CLOSED = new OutagePolicy("fail-closed", 0, 0);

    private static final String OPTIMISTIC = "optimistic";

    private final String name;
    private final int gateways;
    private final double part;

    private OutagePolicy(String name, int gateways, double part) {
        this.name = name;
        this.gateways = gateways;
        this.part = part;
    }

    /**
     * Each process keeps some permits for itself, always: the same number in all of them, which is at least 1 if that is at most half of the
     * pool. A pool that is too small for this has no reserve, and grants nothing while Redis does not answer.
     *
     * @param gateways the most processes that share a pool at once, at least 1
     * @param part of the pool that all reserves together are at most, above 0 and at most 1
     * @throws IllegalArgumentException when a number is out of range
     */
    public static OutagePolicy reserve(int gateways, double part) {
        if (gateways < 1 || !(part > 0 && part <= 1)) {
            throw new IllegalArgumentException(
                    "reserve of %s of a pool for %d gateways (expected: a part above 0 and at most 1, and 1 gateway or more)"
                            .formatted(part, gateways));
        }
        return new OutagePolicy("reserve", gateways, part);
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
        return new OutagePolicy(OPTIMISTIC, gateways, 0);
    }

    /** The permits of a pool of this size that each process keeps for itself. */
    int reserve(int permits) {
        int most = (int) (permits * part / Math.max(1, gateways));
        return part > 0 && most == 0 && 2L * gateways <= permits ? 1 : most;
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
        return isOptimistic() && all > 0 ? permits / all : reserve(permits);
    }

    boolean isOptimistic() {
        return name.equals(OPTIMISTIC);
    }

    /** As operators write it. */
    @Override
    public String toString() {
        return name;
    }
}
