package io.fairgate.benchmarks;

import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;
import reactor.pool.PooledRef;

/**
 * The closed loop over a reactor-pool of as many resources. It has no tenants: who waits longest is next. Of its two ways
 * to borrow, this is the one with less around it ({@code withPoolable} is built on it).
 */
final class ResourceLoop extends ClosedLoop {

    /** Never reached: the longest wait is some microseconds. */
    static final Duration MAX_WAIT = Duration.ofMinutes(5);

    private final Listening released = new Listening();
    private final InstrumentedPool<Object> pool = PoolBuilder.from(Mono.fromSupplier(Object::new))
            .sizeBetween(ContendedBenchmark.PERMITS, ContendedBenchmark.PERMITS)
            .buildPool();

    @Override
    void ask(int tenant) {
        pool.acquire(MAX_WAIT).subscribe(new Asked(tenant));
    }

    private final class Asked extends Asking<PooledRef<Object>> {
        Asked(int tenant) {
            super(tenant);
        }

        @Override
        public void onNext(PooledRef<Object> resource) {
            granted(() -> end(resource));
        }

        private void end(PooledRef<Object> resource) {
            resource.release().subscribe(released);
            ask(tenant);
        }

        @Override
        public void onComplete() {}
    }
}
