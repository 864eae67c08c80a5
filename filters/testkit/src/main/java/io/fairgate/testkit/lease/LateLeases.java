package io.fairgate.testkit.lease;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Leases that act and answer later, as a backend behind a socket does: no call has done anything when its subscription
 * returns, and every answer comes later than what it says.
 */
public final class LateLeases implements Leases {

    private final Leases leases;
    private final Scheduler there;
    private final Scheduler back;

    /**
     * @param there runs the calls
     * @param back emits the answers
     */
    public LateLeases(Leases leases, Scheduler there, Scheduler back) {
        this.leases = leases;
        this.there = there;
        this.back = back;
    }

    private <T> Mono<T> late(Mono<T> call) {
        return call.subscribeOn(there).publishOn(back);
    }

    @Override
    public Mono<Boolean> open(LeaseId id, TenantId tenant, String holder, LeaseTerm term) {
        return late(leases.open(id, tenant, holder, term));
    }

    @Override
    public Mono<Boolean> acquire(LeaseId id, LeaseRequest request, Consumer<LeaseStatus> check) {
        return late(leases.acquire(id, request, check));
    }

    @Override
    public Mono<Duration> extend(LeaseId id, Duration ttl) {
        return late(leases.extend(id, ttl));
    }

    @Override
    public Mono<Boolean> release(LeaseId id) {
        return late(leases.release(id));
    }

    @Override
    public Mono<Boolean> release(LeaseId id, String pool) {
        return late(leases.release(id, pool));
    }

    @Override
    public Mono<Boolean> restore(LeaseId id, TenantId tenant, String holder, LeaseTerm term, HeldBefore before) {
        return late(leases.restore(id, tenant, holder, term, before));
    }

    @Override
    public Mono<LeaseStatus> status(LeaseId id) {
        return late(leases.status(id));
    }

    @Override
    public Flux<LeaseId> ids() {
        return leases.ids().subscribeOn(there).publishOn(back);
    }

    @Override
    public Flux<LeaseId> ids(TenantId tenant) {
        return leases.ids(tenant).subscribeOn(there).publishOn(back);
    }

    @Override
    public Mono<LeaseCount> count() {
        return late(leases.count());
    }

    @Override
    public Mono<Integer> count(TenantId tenant) {
        return late(leases.count(tenant));
    }

    @Override
    public Mono<WaitingLeases> waiting(String pool) {
        return late(leases.waiting(pool));
    }

    @Override
    public void listen(LeaseListener listener) {
        leases.listen(listener);
    }
}
