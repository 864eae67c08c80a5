package io.fairgate.lease;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What a lease waits for: the subscription to the pool, and the answer for all who ask how it went. */
final class Demand extends BaseSubscriber<HeldPermits> {

    private final Leases leases;
    private final OpenLease lease;
    private final String pool;
    private final int permits;
    /** From the grant on; below zero when the grant does not change when the lease expires. */
    private final long ttlNanos;

    private final Sinks.One<Boolean> outcome = Sinks.one();

    Demand(Leases leases, OpenLease lease, LeaseRequest request) {
        this.leases = leases;
        this.lease = lease;
        this.pool = request.pool();
        this.permits = request.permits();
        this.ttlNanos = request.ttl() == null ? -1 : request.ttl().toNanos();
    }

    OpenLease lease() {
        return lease;
    }

    String pool() {
        return pool;
    }

    int permits() {
        return permits;
    }

    long ttlNanos() {
        return ttlNanos;
    }

    /** True when the permits are held, false when they are not wanted any more; errors when they are not to be had. */
    Mono<Boolean> outcome() {
        return outcome.asMono();
    }

    void tell(boolean isHeld) {
        outcome.tryEmitValue(isHeld);
    }

    void tellFailed(Throwable why) {
        outcome.tryEmitError(why);
    }

    @Override
    protected void hookOnNext(HeldPermits held) {
        leases.granted(this, held);
    }

    @Override
    protected void hookOnError(Throwable error) {
        RefusalReason reason =
                error instanceof PermitRefusedException refused ? refused.reason() : RefusalReason.DRAINING;
        leases.refused(this, reason, error);
    }
}
