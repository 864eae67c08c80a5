package io.fairgate.testkit.permit;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import reactor.core.scheduler.Scheduler;

/** What the contract needs to know of a backend. */
public interface PoolBackend {

    /** Makes the pool under test, with these shares, this clock for its timers, and this listener. */
    PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener);

    /** The longest time in which the pool answers. */
    default Duration soon() {
        return Duration.ofMillis(5);
    }

    /**
     * Returns when the pool has answered all that it was asked, and what was asked because of these answers. It may move the
     * time on, by at most {@link #soon}.
     */
    default void answer(TestTime time) {
        time.runDue();
    }
}
