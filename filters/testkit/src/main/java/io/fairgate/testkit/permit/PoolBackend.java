package io.fairgate.testkit.permit;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import reactor.core.scheduler.Scheduler;

/** What the contract needs to know of a backend. */
public interface PoolBackend {

    /** Makes the pool under test, with these shares, this clock for its timers, and this listener. */
    PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener);

    /**
     * Returns when the pool has answered all that it was asked, and what was asked because of these answers. It may move the
     * time on, by at most {@link PoolTopic#SOON}.
     */
    default void answer(TestTime time) {
        time.runDue();
    }
}
