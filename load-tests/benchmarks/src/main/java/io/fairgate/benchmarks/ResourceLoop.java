package io.fairgate.benchmarks;

import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.pool.InstrumentedPool;
import reactor.pool.PoolBuilder;
import reactor.pool.PooledRef;

/**
 * The closed loop over a reactor-pool with as many resources. It is a FIFO queue without tenants. It uses {@code acquire},
 * which is cheaper than {@code withPoolable}, the other way to borrow.
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
