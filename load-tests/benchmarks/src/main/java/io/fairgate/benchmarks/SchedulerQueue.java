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
    private final QueuedRequest[] requests;
    private long now;

    SchedulerQueue(int places) {
        requests = new QueuedRequest[places];
        scheduler.enqueue(new WantedRequest(TENANT), now);
        scheduler.grant(now, granted -> {});
    }

    @Override
    public void join(int place) {
        requests[place] = new WantedRequest(TENANT);
        scheduler.enqueue(requests[place], ++now);
    }

    @Override
    public void leave(int place) {
        scheduler.cancel(requests[place], ++now);
    }
}
