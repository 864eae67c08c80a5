package io.fairgate.testkit;

import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.EmbeddedPermitPool;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import reactor.core.scheduler.Scheduler;

class EmbeddedPermitPoolTest extends PermitPoolContract {

    @Override
    protected PermitPool newPool(PoolSettings settings, TenantShares shares, Scheduler time, PoolListener listener) {
        return new EmbeddedPermitPool("test", settings, shares, time, listener);
    }
}
