package io.fairgate.quota;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The units that one request takes from its quotas: charged at most once, and settled at most once. Each event that ends a
 * request may settle it, also repeatedly and before it was charged: a compare-and-set decides, and a charge that was settled
 * before it was made is not made any more.
 */
public final class QuotaCharge {

    private static final int OPEN = 0;
    private static final int WAITING = 1;
    private static final int CHARGED = 2;
    private static final int SETTLED = 3;
    private static final AtomicIntegerFieldUpdater<QuotaCharge> STATE =
            AtomicIntegerFieldUpdater.newUpdater(QuotaCharge.class, "state");

    private final QuotaSet quotas;
    private final long units;
    /** For each quota, what its usage needs to find this charge again; guarded by the locks of the owners. */
    private final long[] marks;

    /** The number of quotas that are charged or waited for: those that are not enforced may be left out. */
    private int counted;
    /** The balances that are charged or waited for. */
    private @Nullable BoundQuotas at;

    private volatile int state;

    /** @param units the units to charge at first, at least 1; {@link Quotas#settle} corrects them later */
    public QuotaCharge(QuotaSet quotas, long units) {
        if (units < 1) {
            throw new IllegalArgumentException("units: %d (expected: >= 1)".formatted(units));
        }
        this.quotas = quotas;
        this.units = units;
        this.marks = new long[quotas.quotas().size()];
    }

    public QuotaSet quotas() {
        return quotas;
    }

    public long units() {
        return units;
    }

    /** Whether the units are charged and may still be settled. */
    public boolean isCharged() {
        return state == CHARGED;
    }

    // ---- under the locks of its balances, except for end() ----

    /** To CHARGED; false when that is not possible. A settlement sees {@link #at} from then on, and waits for its locks. */
    boolean begin(BoundQuotas balances) {
        return open(CHARGED, balances, 0);
    }

    /** To WAITING; false when that is not possible. Its units count as awaited until {@link #leave} or {@link #end}. */
    boolean await(BoundQuotas balances, int quotas) {
        return open(WAITING, balances, quotas);
    }

    private boolean open(int next, BoundQuotas balances, int quotas) {
        if (state != OPEN) {
            return false;
        }
        at = balances;
        counted = quotas;
        return STATE.compareAndSet(this, OPEN, next);
    }

    /** Ends the wait; returns the balances that it waited for, or null when it did not wait or has been settled. */
    @Nullable
    BoundQuotas leave() {
        return state == WAITING && STATE.compareAndSet(this, WAITING, OPEN) ? at : null;
    }

    /** To SETTLED, and ends a wait; returns whether it was charged and had not been settled. */
    boolean end() {
        int before = STATE.getAndSet(this, SETTLED);
        if (before == WAITING) {
            Objects.requireNonNull(at).leave(this, 0);
        }
        return before == CHARGED;
    }

    void mark(int quota, long mark) {
        marks[quota] = mark;
        counted = quota + 1;
    }

    long mark(int quota) {
        return marks[quota];
    }

    int counted() {
        return counted;
    }

    @Nullable
    BoundQuotas at() {
        return at;
    }
}
