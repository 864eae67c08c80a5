package io.fairgate.fairness.model;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.util.ArrayList;
import java.util.List;

/**
 * Applies random steps to a scheduler, and keeps a ledger of waiting and granted requests from the calls alone. Observers use this
 * ledger and not the scheduler's state.
 */
final class PoolTrial implements SeededModel.Trial<Step> {

    final RandomPool pool;
    final FairScheduler scheduler;
    final List<TestRequest> waiting = new ArrayList<>();
    final List<TestRequest> holding = new ArrayList<>();
    TenantShares shares;
    int permits;
    long now;

    private PoolWatch watch;
    private int requests;

    PoolTrial(RandomPool pool) {
        this.pool = pool;
        this.permits = pool.permits();
        this.shares = pool.shares();
        this.scheduler = new FairScheduler(permits, shares, pool.settings(), pool.gain(), now);
        this.watch = pool.watch().apply(this);
    }

    /** Ends the observation; the steps continue. */
    void stopWatching() {
        watch = new PoolWatch() {};
    }

    int inFlight() {
        return holding.stream().mapToInt(TestRequest::permits).sum();
    }

    int inFlight(TenantId tenant) {
        return holding.stream()
                .filter(request -> request.tenant().equals(tenant))
                .mapToInt(TestRequest::permits)
                .sum();
    }

    ShareSettings settings(TenantId tenant) {
        return shares.of(tenant);
    }

    @Override
    public void apply(Step step) {
        passUntil(now + step.pause());
        switch (step.kind()) {
            case ARRIVE ->
                arrive(new TestRequest(RandomPool.tenant(step.tenant()), step.number(), requests++)
                        .holdingFor(step.hold()));
            case RELEASE -> release(step.number());
            case CANCEL -> cancel(step.number());
            case DECLINE -> decline(step.number());
            case RESIZE -> resize(step.number());
            case RECONFIGURE -> reconfigure(otherShares(step.number()));
            case WAIT -> {}
        }
        if (step.grants()) {
            grant();
        }
        watch.stepped();
    }

    /** Ends the holds that are due until then, each at its own time, and grants their permits again. */
    private void passUntil(long until) {
        for (TestRequest next = TestRequest.endsFirst(holding);
                next != null && next.endsAt <= until;
                next = TestRequest.endsFirst(holding)) {
            pass(next.endsAt - now);
            holding.remove(next);
            release(next);
            grant();
            watch.stepped();
        }
        pass(until - now);
    }

    private void pass(long nanos) {
        watch.passed(nanos);
        now += nanos;
    }

    private void arrive(TestRequest request) {
        scheduler.enqueue(request, now);
        waiting.add(request);
        watch.arrived(request);
    }

    private void release(int index) {
        if (!holding.isEmpty()) {
            release(holding.remove(index % holding.size()));
        }
    }

    private void release(TestRequest request) {
        scheduler.release(request, now);
        watch.released(request);
    }

    private void cancel(int index) {
        if (!waiting.isEmpty()) {
            TestRequest request = waiting.remove(index % waiting.size());
            scheduler.cancel(request, now);
            watch.cancelled(request);
        }
    }

    private void decline(int index) {
        if (!waiting.isEmpty()) {
            waiting.get(index % waiting.size()).wanted = false;
        }
    }

    private void resize(int permits) {
        // Reservations beyond the pool are a mistake in the policy, not a state of the pool.
        this.permits = (int) Math.max(permits, shares.reserved());
        scheduler.reconfigure(this.permits, shares, pool.settings(), now);
        watch.resized(this.permits);
    }

    private TenantShares otherShares(int seed) {
        TenantShares other = RandomPool.shares(seed, permits, pool.tenants());
        ShareCalculator calculator = pool.shares().calculator();
        return calculator == null || seed % 4 == 0 ? other : other.withCalculator(calculator);
    }

    private void reconfigure(TenantShares shares) {
        this.shares = shares;
        scheduler.reconfigure(permits, shares, pool.settings(), now);
        watch.reconfigured(shares);
    }

    private void grant() {
        List<TestRequest> granted = new ArrayList<>();
        scheduler.grant(now, request -> {
            TestRequest given = (TestRequest) request;
            waiting.remove(given);
            holding.add(given);
            given.granted(now);
            granted.add(given);
            watch.granted(given);
        });
        waiting.removeIf(request -> !request.isWaiting());
        watch.handedOut(granted);
    }
}
