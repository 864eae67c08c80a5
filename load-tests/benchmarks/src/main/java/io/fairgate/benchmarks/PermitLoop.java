package io.fairgate.benchmarks;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import java.util.Arrays;
import java.util.stream.IntStream;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** The closed loop over a pool of permits. */
final class PermitLoop extends ClosedLoop {

    private final PermitPool pool;
    private final PermitRequest[] requests;
    private final Work[] works;

    PermitLoop() {
        this(
                new EmbeddedPermitPool(
                        "orders",
                        PoolSettings.ofPermits(ContendedBenchmark.PERMITS).withMaxWait(ResourceLoop.MAX_WAIT),
                        TenantShares.EQUAL),
                IntStream.range(0, ContendedBenchmark.TENANTS)
                        .mapToObj(tenant -> PermitRequest.of("tenant-" + tenant).withEventLoop(Runnable::run))
                        .toArray(PermitRequest[]::new));
    }

    /** @param requests one for each tenant */
    PermitLoop(PermitPool pool, PermitRequest[] requests) {
        this.pool = pool;
        this.requests = requests.clone();
        works = Arrays.stream(requests).map(request -> new Work()).toArray(Work[]::new);
    }

    @Override
    void ask(int tenant) {
        pool.withPermit(requests[tenant], works[tenant]).subscribe(new Asked(tenant));
    }

    /** Work that is in flight until the loop ends it. */
    private final class Work extends Mono<Object> {
        @Override
        public void subscribe(CoreSubscriber<? super Object> actual) {
            actual.onSubscribe(Operators.emptySubscription());
            granted(actual::onComplete);
        }
    }

    private final class Asked extends Asking<Object> {
        Asked(int tenant) {
            super(tenant);
        }

        @Override
        public void onNext(Object element) {}

        @Override
        public void onComplete() {
            ask(tenant);
        }
    }
}
