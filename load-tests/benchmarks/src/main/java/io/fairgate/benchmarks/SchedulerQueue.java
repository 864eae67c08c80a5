package io.fairgate.benchmarks;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;

/** The queue of the scheduler alone. */
final class SchedulerQueue implements WaitingQueue {

    private static final TenantId TENANT = TenantId.of("acme");

    private final FairScheduler scheduler = new FairScheduler(1, TenantShares.EQUAL, FairnessSettings.USUAL, 0);
    private final QueuedRequest[] claims;
    private long now;

    SchedulerQueue(int places) {
        claims = new QueuedRequest[places];
        scheduler.enqueue(new WantedClaim(TENANT), now);
        scheduler.grant(now, granted -> {});
    }

    @Override
    public void join(int place) {
        claims[place] = new WantedClaim(TENANT);
        scheduler.enqueue(claims[place], ++now);
    }

    @Override
    public void leave(int place) {
        scheduler.cancel(claims[place], ++now);
    }
}
