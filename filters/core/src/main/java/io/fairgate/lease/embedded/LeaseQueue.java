package io.fairgate.lease.embedded;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The acquisitions of one tenant's leases in one pool, in the order of arrival, and the place of each in that order. Every
 * status reports the place, so counting the ones before it one by one would be too slow with many leases that poll.
 *
 * <p>Each acquisition gets a number when it arrives. A Fenwick tree counts the numbers that are taken; when all numbers have
 * been used, those that still wait are numbered anew. Each step takes time in proportion to the logarithm of their number.
 */
final class LeaseQueue {

    private static final int FEWEST = 16;

    private final Set<LeaseAcquisition> waiting = new LinkedHashSet<>();
    /** The Fenwick tree: entry i counts the taken numbers in (i - lowest bit of i, i]. Numbers begin at 1. */
    private int[] taken = new int[FEWEST];

    private int lastNumber;
    /** The sum of the permits that are wanted of this pool. */
    long permits;

    void add(LeaseAcquisition acquisition) {
        if (lastNumber == taken.length - 1) {
            numberAnew();
        }
        waiting.add(acquisition);
        permits += acquisition.permitsOfPool();
        number(acquisition);
    }

    void remove(LeaseAcquisition acquisition) {
        waiting.remove(acquisition);
        permits -= acquisition.permitsOfPool();
        count(acquisition.number, -1);
    }

    /** The place in the queue; the first is 1. */
    int place(LeaseAcquisition acquisition) {
        int sum = 0;
        for (int i = acquisition.number; i > 0; i -= Integer.lowestOneBit(i)) {
            sum += taken[i];
        }
        return sum;
    }

    int size() {
        return waiting.size();
    }

    /** The time of the first request in the queue; one that came from another pool's queue may be older. */
    long firstRequestedAt() {
        return waiting.iterator().next().requestedAt;
    }

    private void number(LeaseAcquisition acquisition) {
        lastNumber++;
        acquisition.number = lastNumber;
        count(lastNumber, 1);
    }

    private void count(int number, int more) {
        for (int i = number; i < taken.length; i += Integer.lowestOneBit(i)) {
            taken[i] += more;
        }
    }

    /** Numbers all anew, and leaves room for as many more, so that this is seldom needed. */
    private void numberAnew() {
        taken = new int[Math.max(FEWEST, 2 * waiting.size() + 1)];
        lastNumber = 0;
        waiting.forEach(this::number);
    }
}
