package io.fairgate.lease.embedded;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.lease.LateLeases;
import io.fairgate.testkit.lease.LeasesContract;
import java.time.Instant;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The contract can be kept by a backend that does nothing before a subscription returns. */
class LateLeasesTest extends LeasesContract {

    /** Runs nothing before it is told to. */
    private final VirtualTimeScheduler later = VirtualTimeScheduler.create(true);

    @Override
    protected PermitPool newPool(String name, PoolSettings settings, Scheduler time) {
        return new EmbeddedPermitPool(name, settings, TenantShares.EQUAL, time, PoolListener.NONE);
    }

    @Override
    protected Leases newLeases(LeasedPools pools, Scheduler time) {
        return new LateLeases(new EmbeddedLeases(pools, time, new FencingTokens(() -> Instant.EPOCH)), later, later);
    }

    @Override
    protected void runDue(TestTime time) {
        later.advanceTime();
        time.runDue();
        later.advanceTime();
    }
}
