package io.fairgate.lease.embedded;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Who waits in one pool, of one tenant, in the order in which they came; and how many are before each, which every status
 * tells, so that counting them one by one would make many who ask often a burden on all.
 *
 * <p>Each gets a number when it comes. A Fenwick tree counts the numbers that are taken, and when all have been given out,
 * those who are still there are numbered anew. Each step takes the logarithm of how many there are.
 */
final class LeaseQueue {

    private static final int FEWEST = 16;

    private final Set<Demand> waiting = new LinkedHashSet<>();
    /** At i, how many numbers are taken of the last (i's lowest bit) up to i. Numbers begin at 1. */
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

    /** False when it is not here. */
    boolean remove(Demand demand) {
        boolean isHere = waiting.remove(demand);
        if (isHere) {
            permits -= demand.permits();
            count(demand.number, -1);
        }
        return isHere;
    }

    /** From 1 on. */
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

    /** That all of them want of this pool. */
    long permits() {
        return permits;
    }

    /** When the one asked that has waited for longest; one that came from another pool's queue may have asked earlier. */
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

    /** As many numbers again as there are demands, so that this is seldom. */
    private void numberAnew() {
        taken = new int[Math.max(FEWEST, 2 * waiting.size() + 1)];
        lastNumber = 0;
        waiting.forEach(this::number);
    }
}
