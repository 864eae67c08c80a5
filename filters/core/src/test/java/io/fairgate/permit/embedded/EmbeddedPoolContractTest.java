package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.permit.PermitPoolContract;
import reactor.core.scheduler.Scheduler;

class EmbeddedPoolContractTest extends PermitPoolContract {

    @Override
    public PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        return new EmbeddedPermitPool("test", settings, shares, time, listener);
    }
}
