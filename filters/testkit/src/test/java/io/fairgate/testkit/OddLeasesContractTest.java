package io.fairgate.testkit;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.lease.LeasesContract;
import io.fairgate.testkit.lease.LostLeasesContract;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddLeases;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Nested;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Leases that answer later than they act, and are lost now and then, keep the same promises. */
class OddLeasesContractTest extends LeasesContract {

    /** Delivers messages when the test lets it, at no time of the clock. */
    private final VirtualTimeScheduler messages = VirtualTimeScheduler.create(true);

    private final Network network = new Network(messages, Duration.ZERO);

    @Override
    protected PermitPool newPool(String name, PoolSettings settings, Scheduler time) {
        return new EmbeddedPermitPool(name, settings, TenantShares.EQUAL, time, PoolListener.NONE);
    }

    @Override
    protected Leases newLeases(LeasedPools pools, Scheduler time) {
        return new OddLeases(new EmbeddedLeases(pools, time, new FencingTokens(() -> Instant.EPOCH)), network);
    }

    @Override
    protected void runDue(TestTime time) {
        messages.advanceTime();
        time.runDue();
        messages.advanceTime();
    }

    @Nested
    class Lost extends LostLeasesContract {
        Lost() {
            super(OddLeasesContractTest.this);
        }

        @Override
        protected void lose() {
            network.lose();
        }

        @Override
        protected void regain() {
            network.regain();
        }
    }
}
