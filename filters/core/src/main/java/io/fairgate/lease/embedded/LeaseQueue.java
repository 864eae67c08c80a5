package io.fairgate.lease.embedded;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The demands of one tenant's leases in one pool, in the order of arrival, and the place of each in that order. Every status
 * reports the place, so counting the demands before it one by one would be too slow with many leases that poll.
 *
 * <p>Each demand gets a number when it arrives. A Fenwick tree counts the numbers that are taken; when all numbers have been
 * used, the demands that still wait are numbered anew. Each step takes time in proportion to the logarithm of their number.
 */
final class LeaseQueue {

    private static final int FEWEST = 16;

    private final Set<Demand> waiting = new LinkedHashSet<>();
    /** The Fenwick tree: entry i counts the taken numbers in (i - lowest bit of i, i]. Numbers begin at 1. */
    private int[] taken = new int[FEWEST];

    private int lastNumber;
    private long permits;

    void add(Demand demand) {
        if (lastNumber == taken.length - 1) {
            numberAnew();
        }
        waiting.add(demand);
        permits += demand.permits();
        number(demand);
    }

    /** False when the demand is not in this queue. */
    boolean remove(Demand demand) {
        boolean isHere = waiting.remove(demand);
        if (isHere) {
            permits -= demand.permits();
            count(demand.number, -1);
        }
        return isHere;
    }

    /** The place of the demand in the queue; the first is 1. */
    int place(Demand demand) {
        int sum = 0;
        for (int i = demand.number; i > 0; i -= Integer.lowestOneBit(i)) {
            sum += taken[i];
        }
        return sum;
    }

    int size() {
        return waiting.size();
    }

    /** The sum of the permits that the demands want of this pool. */
    long permits() {
        return permits;
    }

    /** When the first demand of the queue was made; a demand that came from another pool's queue may be older. */
    long firstAskedAt() {
        return waiting.iterator().next().askedAt();
    }

    private void number(Demand demand) {
        lastNumber++;
        demand.number = lastNumber;
        count(lastNumber, 1);
    }

    private void count(int number, int more) {
        for (int i = number; i < taken.length; i += Integer.lowestOneBit(i)) {
            taken[i] += more;
        }
    }

    /** Numbers all demands anew, and leaves room for as many more, so that this is seldom needed. */
    private void numberAnew() {
        taken = new int[Math.max(FEWEST, 2 * waiting.size() + 1)];
        lastNumber = 0;
        waiting.forEach(this::number);
    }
}
