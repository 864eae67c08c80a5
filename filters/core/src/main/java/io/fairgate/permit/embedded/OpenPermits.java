package io.fairgate.permit.embedded;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Permits that lie open while nobody waits: whoever comes takes one by a compare-and-set, and puts it back by another.
 *
 * <p>Each cell is one permit. It is free (null), or taken (the claim that took it), or shut. The drain opens cells with
 * permits that the scheduler lends, and shuts them all before anybody has to wait; what it then finds in a cell is either
 * a free permit, which goes back to the scheduler, or a claim, which the scheduler counts from then on. Since every cell
 * changes hands by a single step, a permit is at each moment in exactly one place, and a claim that puts back what it took
 * either does so in time or sees that the cell is shut and tells the drain: no wake-up is lost on the way.
 *
 * <p>Threads: anyone takes and gives back; only the drain opens and shuts.
 */
final class OpenPermits {

    /** Cells are looked through one after the other, and shut one after the other: there is a bound to that. */
    static final int MOST = 1024;

    private static final Object SHUT = new Object();
    /** References that fill a cache line: threads begin to look that far apart. */
    private static final int LINE = 16;

    private final AtomicReferenceArray<@Nullable Object> cells;
    private final int lines;

    /** Whether it makes sense to look through the cells: while requests wait, all of them are shut. */
    private volatile boolean isOpen;

    /** Only for the drain: cells that are not shut. */
    private int open;

    /** As many cells as there are permits, within {@link #MOST}; all shut. */
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

    /** Whether one of the cells that {@link #take} looks at first is free; of a few more than that it says nothing. */
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

    /** Puts the permit back that the claim had taken; false when its cell has been shut meanwhile. */
    boolean giveBack(PoolClaim claim) {
        return cells.compareAndSet(claim.cell, claim, null);
    }

    /** Whether its cell still has the claim; once it has not, the drain knows of it. */
    boolean has(PoolClaim claim) {
        return cells.get(claim.cell) == claim;
    }

    private static int spread(long threadId) {
        return (int) ((threadId * 0x9E3779B97F4A7C15L) >>> 33);
    }

    int size() {
        return cells.length();
    }

    // ---- only the drain ----

    /** How many cells are shut. */
    int shut() {
        return cells.length() - open;
    }

    /** Opens as many of the cells that are shut. */
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

    /** Every claim that has taken a permit and not put it back, as far as that does not change meanwhile. */
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
     * @param taken is told of each claim that had taken a permit, and from then on has to tell the drain when it is over
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
