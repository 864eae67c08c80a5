package io.fairgate.quota;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The units that one request takes from its quotas: charged at most once, and at most once settled. Whatever ends a
 * request may settle it, also twice and before it was charged; a compare-and-set decides, and a charge that was settled
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
    /** What each balance needs to find this charge again; written and read under its lock. */
    private final long[] marks;

    /** How many of the quotas are charged, or waited for: those that are not enforced may not be. */
    private int counted;
    /** Where they are. */
    private @Nullable BoundQuotas at;

    private volatile int state;

    /** @param units that are taken at first, at least 1; what is known later is for {@link Quotas#settle} */
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

    // ---- under the locks of its balances, all but the end ----

    /** Whether it may be charged now; then it counts as charged. Who settles sees where, and waits for that lock. */
    boolean begin(BoundQuotas balances) {
        return open(CHARGED, balances, 0);
    }

    /** Whether it may wait now; then its units count as waited for, until it does no more, or ends. */
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

    /** Where it has waited until now, and does no more; null when it did not, or has been settled. */
    @Nullable
    BoundQuotas leave() {
        return state == WAITING && STATE.compareAndSet(this, WAITING, OPEN) ? at : null;
    }

    /** Whether it was charged and has not been settled; from now on it is, and waits no more. */
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
