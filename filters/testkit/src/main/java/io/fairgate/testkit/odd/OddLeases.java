package io.fairgate.testkit.odd;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseListener;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.lease.WaitingLeases;
import io.fairgate.permit.RefusalReason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Leases behind a {@link Network}: no call has done anything when its subscription returns, and every answer comes later than
 * what it says. A call that is cancelled reaches the server nevertheless.
 */
public final class OddLeases implements Leases {

    private final Leases server;
    private final Network network;

    /** @param server the leases at the other end of the network */
    public OddLeases(Leases server, Network network) {
        this.server = server;
        this.network = network;
    }

    private <T> Mono<T> call(Mono<T> call) {
        return network.call(call, LeasesUnavailableException::new);
    }

    private <T> Flux<T> each(Flux<T> call) {
        return call(call.collectList()).flatMapIterable(List::copyOf);
    }

    @Override
    public Mono<Boolean> open(LeaseId id, LeaseHolder holder, LeaseTerm term) {
        return call(server.open(id, holder, term));
    }

    @Override
    public Mono<Boolean> acquire(
            LeaseId id, LeaseRequest request, Function<LeaseStatus, @Nullable Mono<Void>> payment) {
        return call(server.acquire(id, request, payment));
    }

    @Override
    public Mono<Duration> extend(LeaseId id, Duration ttl) {
        return call(server.extend(id, ttl));
    }

    @Override
    public Mono<Boolean> release(LeaseId id) {
        return call(server.release(id));
    }

    @Override
    public Mono<Void> forget(LeaseId id) {
        return call(server.forget(id));
    }

    @Override
    public Mono<Boolean> release(LeaseId id, String pool) {
        return call(server.release(id, pool));
    }

    /** After a cancellation the lease ends as soon as the server can be told. */
    @Override
    public Mono<Boolean> restore(LeaseId id, LeaseHolder holder, LeaseTerm term, HeldBefore before) {
        return Mono.defer(() -> {
            AtomicBoolean isToBeUndone = new AtomicBoolean();
            Mono<Void> undone =
                    Mono.defer(() -> isToBeUndone.get() ? server.release(id).then() : Mono.empty());
            return call(server.restore(id, holder, term, before).doOnNext(isToBeUndone::set))
                    .doOnNext(answered -> isToBeUndone.set(false))
                    .doOnCancel(() -> network.delivered(undone).subscribe());
        });
    }

    @Override
    public Mono<Void> bury(LeaseId id, TenantId tenant, Duration remembered) {
        return call(server.bury(id, tenant, remembered));
    }

    @Override
    public Mono<LeaseMemory> memory() {
        return call(server.memory());
    }

    @Override
    public Mono<LeaseStatus> status(LeaseId id) {
        return call(server.status(id));
    }

    @Override
    public Flux<LeaseId> ids() {
        return each(server.ids());
    }

    @Override
    public Flux<LeaseId> ids(TenantId tenant) {
        return each(server.ids(tenant));
    }

    @Override
    public Mono<LeaseCount> count() {
        return call(server.count());
    }

    @Override
    public Mono<Integer> count(TenantId tenant) {
        return call(server.count(tenant));
    }

    @Override
    public Mono<WaitingLeases> waiting(String pool) {
        return call(server.waiting(pool));
    }

    @Override
    public Mono<Void> drain() {
        return call(server.drain());
    }

    @Override
    public Mono<Void> close() {
        return call(server.close());
    }

    /** The listener gets each event a message later, and in a lost connection when it is there again. */
    @Override
    public void listen(LeaseListener listener) {
        server.listen(new LateListener(listener));
    }

    private final class LateListener implements LeaseListener {

        private final LeaseListener listener;

        LateListener(LeaseListener listener) {
            this.listener = listener;
        }

        @Override
        public void granted(LeaseStatus lease, LeaseStatus.Held permits) {
            network.deliver(() -> listener.granted(lease, permits));
        }

        @Override
        public void restored(LeaseStatus lease) {
            network.deliver(() -> listener.restored(lease));
        }

        @Override
        public void refused(LeaseStatus lease, LeaseStatus.Waiting asked, RefusalReason reason) {
            network.deliver(() -> listener.refused(lease, asked, reason));
        }

        @Override
        public void extended(LeaseStatus lease, Duration ttl) {
            network.deliver(() -> listener.extended(lease, ttl));
        }

        @Override
        public void released(LeaseStatus lease, LeaseStatus.Held permits) {
            network.deliver(() -> listener.released(lease, permits));
        }

        @Override
        public void ended(LeaseStatus lease, End how) {
            network.deliver(() -> listener.ended(lease, how));
        }
    }
}
