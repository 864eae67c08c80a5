package io.fairgate.permit.embedded;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The slots of the {@link FastPath}. Each is one permit, and is free (null), or taken (it holds the waiter), or shut.
 *
 * <p>The drain opens slots with free permits of the scheduler, and shuts them all before a request has to wait. In a slot
 * it then finds either a free permit, which goes back to the scheduler, or a waiter, which the scheduler counts from then on.
 * Since every change of a slot is one atomic step, a permit is in exactly one place at each moment. A waiter that puts its
 * permit back either does so in time, or sees that the slot is shut and calls the drain: no wake-up is lost.
 *
 * <p>Threads: any thread takes and gives back; only the drain opens and shuts.
 */
final class Slots {

    /** The most slots. They are searched and shut one after the other, which this bounds. */
    static final int MOST = 1024;
    /** The index of no slot. */
    static final short NONE = -1;

    private static final Object SHUT = new Object();
    /** References in a cache line: threads begin their searches in different lines. */
    private static final int LINE = 16;

    private final AtomicReferenceArray<@Nullable Object> slots;
    private final int lines;

    /** Whether a search can find a free slot: while requests wait, all slots are shut. */
    private volatile boolean isOpen;

    /** The number of slots that are not shut; only for the drain. */
    private int open;

    /** One slot for each permit, at most {@link #MOST}; all shut. */
    Slots(int permits) {
        int size = Math.min(permits, MOST);
        slots = new AtomicReferenceArray<>(size);
        for (int i = 0; i < size; i++) {
            slots.setPlain(i, SHUT);
        }
        lines = (size + LINE - 1) / LINE;
    }

    boolean take(Waiter waiter) {
        if (!isOpen) {
            return false;
        }
        int size = slots.length();
        int first = firstOfThread();
        for (int i = 0; i < size; i++) {
            int at = first + i < size ? first + i : first + i - size;
            if (slots.getPlain(at) == null) {
                waiter.slot = (short) at;
                if (slots.compareAndSet(at, null, waiter)) {
                    return true;
                }
            }
        }
        waiter.slot = NONE;
        return false;
    }

    /** Whether one of the slots of the cache line in which {@link #take} begins is free; other slots are not searched. */
    boolean hasFree() {
        if (!isOpen) {
            return false;
        }
        int first = firstOfThread();
        int end = Math.min(first + LINE, slots.length());
        for (int i = first; i < end; i++) {
            if (slots.getPlain(i) == null) {
                return true;
            }
        }
        return false;
    }

    /** Puts back the permit of the waiter; false when its slot has been shut meanwhile, or is not here. */
    boolean giveBack(Waiter waiter) {
        int at = waiter.slot;
        return at >= 0 && at < slots.length() && slots.compareAndSet(at, waiter, null);
    }

    boolean has(Waiter waiter) {
        int at = waiter.slot;
        return at >= 0 && at < slots.length() && slots.get(at) == waiter;
    }

    private int firstOfThread() {
        int spread = (int) ((Thread.currentThread().getId() * 0x9E3779B97F4A7C15L) >>> 33);
        return lines == 1 ? 0 : spread % lines * LINE;
    }

    int size() {
        return slots.length();
    }

    // ---- only for the drain ----

    /** The number of slots that are shut. */
    int shut() {
        return slots.length() - open;
    }

    /** Opens {@code count} of the slots that are shut. */
    void open(int count) {
        open += count;
        for (int i = 0, left = count; left > 0; i++) {
            if (slots.getPlain(i) == SHUT) {
                slots.setRelease(i, null);
                left--;
            }
        }
        isOpen = open > 0;
    }

    /** Visits every waiter that is in a slot; slots may change meanwhile. */
    void forEachTaken(Consumer<Waiter> action) {
        for (int i = 0; i < slots.length() && open > 0; i++) {
            if (slots.get(i) instanceof Waiter waiter) {
                action.accept(waiter);
            }
        }
    }

    /**
     * Shuts all slots.
     *
     * @param taken gets each waiter that has taken a permit; from then on such a waiter must call the drain when it is over
     * @return how many of the permits were free
     */
    int shutAll(Consumer<Waiter> taken) {
        isOpen = false;
        int free = 0;
        for (int i = 0; open > 0; i++) {
            if (slots.getPlain(i) != SHUT) {
                open--;
                Object was = slots.getAndSet(i, SHUT);
                if (was == null) {
                    free++;
                } else {
                    taken.accept((Waiter) was);
                }
            }
        }
        return free;
    }
}
