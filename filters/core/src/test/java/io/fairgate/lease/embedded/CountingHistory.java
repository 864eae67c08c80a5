package io.fairgate.lease.embedded;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What several threads did to a counting semaphore and when, and whether that could have happened one after the other: each
 * step at one moment between its call and its return (linearizability: Herlihy and Wing 1990). The search is that of Wing and
 * Gong 1993: of the steps that may come next, each is tried; what has been tried is not tried again.
 */
final class CountingHistory {

    /** No more than fit the bits of a {@code long}. */
    static final int MOST_STEPS = 63;

    private static final int NOT_SEEN = -1;

    private final int limit;
    private final AtomicLong order = new AtomicLong();
    private final ConcurrentLinkedQueue<Step> steps = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Leaver> leavers = new ConcurrentLinkedQueue<>();

    /**
     * One call.
     *
     * @param change of what is held
     * @param seen how many were held, when that was what was asked
     */
    private record Step(String what, long called, long returned, int change, int seen) {}

    /** Who asked and left. */
    private record Leaver(long called, int permits) {}

    CountingHistory(int limit) {
        this.limit = limit;
    }

    /** The beginning of a call. */
    long call() {
        return order.incrementAndGet();
    }

    void took(long called, int permits) {
        steps.add(new Step("take " + permits, called, order.incrementAndGet(), permits, NOT_SEEN));
    }

    void gaveBack(long called, int permits) {
        steps.add(new Step("give back " + permits, called, order.incrementAndGet(), -permits, NOT_SEEN));
    }

    void saw(long called, int held) {
        steps.add(new Step("see " + held, called, order.incrementAndGet(), 0, held));
    }

    /**
     * A caller asked and left without waiting for an answer. What it was granted just then comes back soon, at a time that
     * the history does not record: until the end each look at the count may see it, or not.
     */
    void left(long called, int permits) {
        leavers.add(new Leaver(called, permits));
    }

    boolean isLinearizable() {
        List<Step> all = new ArrayList<>(steps);
        if (all.size() > MOST_STEPS) {
            throw new IllegalStateException("steps: %d (expected: <= %d)".formatted(all.size(), MOST_STEPS));
        }
        return goesOn(all, 0, 0, new HashSet<>());
    }

    private boolean goesOn(List<Step> all, long done, int held, Set<Long> tried) {
        if (done == (1L << all.size()) - 1) {
            return true;
        }
        if (!tried.add(done)) {
            return false;
        }
        long firstReturn = Long.MAX_VALUE;
        for (int i = 0; i < all.size(); i++) {
            if ((done & (1L << i)) == 0) {
                firstReturn = Math.min(firstReturn, all.get(i).returned());
            }
        }
        for (int i = 0; i < all.size(); i++) {
            Step next = all.get(i);
            boolean mayBeNext = (done & (1L << i)) == 0 && next.called() < firstReturn;
            if (mayBeNext && fits(next, held) && goesOn(all, done | (1L << i), held + next.change(), tried)) {
                return true;
            }
        }
        return false;
    }

    private boolean fits(Step step, int held) {
        if (step.seen() == NOT_SEEN) {
            return held + step.change() <= limit;
        }
        int withLeavers = held
                + leavers.stream()
                        .filter(leaver -> leaver.called() < step.returned())
                        .mapToInt(Leaver::permits)
                        .sum();
        return held <= step.seen() && step.seen() <= Math.min(limit, withLeavers);
    }

    @Override
    public String toString() {
        return String.join(
                "\n",
                steps.stream()
                        .map(step -> "%d-%d %s".formatted(step.called(), step.returned(), step.what()))
                        .toList());
    }
}
