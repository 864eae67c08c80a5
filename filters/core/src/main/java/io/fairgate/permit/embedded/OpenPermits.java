package io.fairgate.permit.embedded;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The fast path: open permits, which a claim takes by one compare-and-set and puts back by another, while no claim waits.
 *
 * <p>Each cell is one permit. A cell is free (null), or taken (it holds the claim that took it), or shut. The drain opens
 * cells with permits that the scheduler lends, and shuts them all before a claim has to wait. In a cell it then finds either
 * a free permit, which goes back to the scheduler, or a claim, which the scheduler counts from then on. Since every change
 * of a cell is one atomic step, a permit is in exactly one place at each moment. A claim that puts its permit back either
 * does so in time, or sees that the cell is shut and calls the drain: no wake-up is lost.
 *
 * <p>Threads: any thread takes and gives back; only the drain opens and shuts.
 */
final class OpenPermits {

    /** The most cells. They are searched and shut one after the other, which this bounds. */
    static final int MOST = 1024;

    private static final Object SHUT = new Object();
    /** References in a cache line: threads begin their searches in different lines. */
    private static final int LINE = 16;

    private final AtomicReferenceArray<@Nullable Object> cells;
    private final int lines;

    /** Whether a search can find a free cell: while claims wait, all cells are shut. */
    private volatile boolean isOpen;

    /** The number of cells that are not shut; only for the drain. */
    private int open;

    /** One cell for each permit, at most {@link #MOST}; all shut. */
    OpenPermits(int permits) {
        int size = Math.min(permits, MOST);
        cells = new AtomicReferenceArray<>(size);
        for (int i = 0; i < size; i++) {
            cells.setPlain(i, SHUT);
        }
        lines = (size + LINE - 1) / LINE;
    }

    /** Takes a free permit for the claim, if there is one. */
    boolean take(PoolClaim claim) {
        if (!isOpen) {
            return false;
        }
        int size = cells.length();
        int first = lines == 1 ? 0 : spread(Thread.currentThread().getId()) % lines * LINE;
        for (int i = 0; i < size; i++) {
            int at = first + i < size ? first + i : first + i - size;
            if (cells.getPlain(at) == null) {
                claim.cell = at;
                if (cells.compareAndSet(at, null, claim)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether one of the cells of the cache line in which {@link #take} begins is free; other cells are not searched. */
    boolean hasFree() {
        if (!isOpen) {
            return false;
        }
        int first = lines == 1 ? 0 : spread(Thread.currentThread().getId()) % lines * LINE;
        int end = Math.min(first + LINE, cells.length());
        for (int i = first; i < end; i++) {
            if (cells.getPlain(i) == null) {
                return true;
            }
        }
        return false;
    }

    /** Puts back the permit of the claim; false when its cell has been shut meanwhile. */
    boolean giveBack(PoolClaim claim) {
        return cells.compareAndSet(claim.cell, claim, null);
    }

    /** Whether the claim is still in its cell; if not, the drain has seen it. */
    boolean has(PoolClaim claim) {
        return cells.get(claim.cell) == claim;
    }

    private static int spread(long threadId) {
        return (int) ((threadId * 0x9E3779B97F4A7C15L) >>> 33);
    }

    int size() {
        return cells.length();
    }

    // ---- only for the drain ----

    /** The number of cells that are shut. */
    int shut() {
        return cells.length() - open;
    }

    /** Opens {@code count} of the cells that are shut. */
    void open(int count) {
        open += count;
        for (int i = 0, left = count; left > 0; i++) {
            if (cells.getPlain(i) == SHUT) {
                cells.setRelease(i, null);
                left--;
            }
        }
        isOpen = open > 0;
    }

    /** Visits every claim that is in a cell; cells may change meanwhile. */
    void forEachTaken(Consumer<PoolClaim> action) {
        for (int i = 0; i < cells.length() && open > 0; i++) {
            if (cells.get(i) instanceof PoolClaim claim) {
                action.accept(claim);
            }
        }
    }

    /**
     * Shuts all cells.
     *
     * @param taken gets each claim that has taken a permit; from then on such a claim must call the drain when it is over
     * @return how many of the permits were free
     */
    int shutAll(Consumer<PoolClaim> taken) {
        isOpen = false;
        int free = 0;
        for (int i = 0; open > 0; i++) {
            if (cells.getPlain(i) != SHUT) {
                open--;
                Object was = cells.getAndSet(i, SHUT);
                if (was == null) {
                    free++;
                } else {
                    taken.accept((PoolClaim) was);
                }
            }
        }
        return free;
    }
}
