package io.fairgate.quota;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The units that one request takes from its quotas: charged at most once, and at most once settled. Whatever ends a
 * request may settle it, also twice and before it was charged; a compare-and-set decides, and a charge that was settled
 * before it was made is not made any more.
 */
public final class QuotaCharge {

    private static final int OPEN = 0;
    private static final int CHARGED = 1;
    private static final int SETTLED = 2;
    private static final AtomicIntegerFieldUpdater<QuotaCharge> STATE =
            AtomicIntegerFieldUpdater.newUpdater(QuotaCharge.class, "state");

    private final QuotaSet quotas;
    private final long units;
    /** What each balance needs to find this charge again; written and read under its lock. */
    private final long[] marks;

    /** How many of the quotas were charged: those that are not enforced may not have been. */
    private int charged;
    /** Where they were charged. */
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

    /** Whether it may be charged now; then it counts as charged. Who settles sees where, and waits for that lock. */
    boolean begin(BoundQuotas balances) {
        if (state != OPEN) {
            return false;
        }
        at = balances;
        return STATE.compareAndSet(this, OPEN, CHARGED);
    }

    /** Whether it was charged and has not been settled; from now on it is. */
    boolean end() {
        return STATE.getAndSet(this, SETTLED) == CHARGED;
    }

    void mark(int quota, long mark) {
        marks[quota] = mark;
        charged = quota + 1;
    }

    long mark(int quota) {
        return marks[quota];
    }

    int charged() {
        return charged;
    }

    @Nullable
    BoundQuotas at() {
        return at;
    }
}
