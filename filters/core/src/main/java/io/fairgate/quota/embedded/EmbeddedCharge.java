package io.fairgate.quota.embedded;

import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A charge in the memory of this process. A compare-and-set decides between its charge and its settlements.
 */
final class EmbeddedCharge implements QuotaCharge {

    private static final int OPEN = 0;
    private static final int WAITING = 1;
    private static final int CHARGED = 2;
    private static final int SETTLED = 3;
    private static final AtomicIntegerFieldUpdater<EmbeddedCharge> STATE =
            AtomicIntegerFieldUpdater.newUpdater(EmbeddedCharge.class, "state");

    private final EmbeddedQuotas backend;
    private final QuotaSet quotas;
    private final long units;
    /** For each quota, what its usage needs to find this charge again; guarded by the locks of the owners. */
    final long[] marks;

    /** The number of quotas that are charged or waited for: those that are not enforced may be left out. */
    int counted;
    /** The balances that are charged or waited for. */
    @Nullable
    BoundQuotas balances;

    private volatile int state;

    EmbeddedCharge(EmbeddedQuotas backend, QuotaSet quotas, long units) {
        this.backend = backend;
        this.quotas = quotas;
        this.units = units;
        this.marks = new long[quotas.quotas().size()];
    }

    @Override
    public QuotaSet quotas() {
        return quotas;
    }

    @Override
    public long units() {
        return units;
    }

    @Override
    public Mono<QuotaDecision> charge() {
        return backend.charge(this);
    }

    @Override
    public boolean isCharged() {
        return state == CHARGED;
    }

    @Override
    public Mono<Void> settle(long actual) {
        return Mono.fromRunnable(() -> backend.settle(this, actual));
    }

    // ---- under the locks of its balances, except for end() ----

    /** To CHARGED; false when that is not possible. A settlement sees {@link #balances} from then on, and waits for its locks. */
    boolean begin(BoundQuotas balances, int quotas) {
        return open(CHARGED, balances, quotas);
    }

    /** To WAITING; false when that is not possible. Its units count as awaited until {@link #leave} or {@link #end}. */
    boolean await(BoundQuotas balances, int quotas) {
        return open(WAITING, balances, quotas);
    }

    private boolean open(int next, BoundQuotas balances, int quotas) {
        if (state != OPEN) {
            return false;
        }
        this.balances = balances;
        counted = quotas;
        return STATE.compareAndSet(this, OPEN, next);
    }

    /** Ends the wait; returns the balances that it waited for, or null when it did not wait or has been settled. */
    @Nullable
    BoundQuotas leave() {
        return state == WAITING && STATE.compareAndSet(this, WAITING, OPEN) ? balances : null;
    }

    /** To SETTLED, and ends a wait; returns whether it was charged and had not been settled. */
    boolean end() {
        int before = STATE.getAndSet(this, SETTLED);
        if (before == WAITING) {
            Objects.requireNonNull(balances).leave(this, 0);
        }
        return before == CHARGED;
    }
}
