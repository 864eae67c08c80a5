package io.fairgate.benchmarks;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import reactor.core.publisher.Mono;

/**
 * Takes and releases a permit while there are always enough permits. Two threads still have enough permits, but they contend
 * for the memory that counts them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class UncontendedBenchmark {

    static final int BATCH = 1000;
    static final int SMALL_BATCH = 50;

    private static final int PERMITS = 64;
    private static final PermitRequest REQUEST = PermitRequest.of("acme").withEventLoop(Runnable::run);
    private static final Mono<Integer> WORK = Mono.just(1);

    private final Semaphore semaphore = new Semaphore(PERMITS);
    private final Semaphore fairSemaphore = new Semaphore(PERMITS, true);
    private final Bulkhead bulkhead = Bulkhead.of(
            "orders", BulkheadConfig.custom().maxConcurrentCalls(PERMITS).build());
    private final PermitPool pool =
            new EmbeddedPermitPool("orders", PoolSettings.ofPermits(PERMITS), TenantShares.EQUAL);

    @Benchmark
    public void semaphore() throws InterruptedException {
        for (int i = 0; i < BATCH; i++) {
            semaphore.acquire();
            semaphore.release();
        }
    }

    /** Not {@code tryAcquire}, which overtakes waiting threads and so is not fair. */
    @Benchmark
    public void fairSemaphore() throws InterruptedException {
        for (int i = 0; i < BATCH; i++) {
            fairSemaphore.acquire();
            fairSemaphore.release();
        }
    }

    @Benchmark
    public void bulkhead(Blackhole blackhole) {
        for (int i = 0; i < BATCH; i++) {
            blackhole.consume(bulkhead.tryAcquirePermission());
            bulkhead.onComplete();
        }
    }

    @Benchmark
    public void tryAcquire() {
        for (int i = 0; i < BATCH; i++) {
            HeldPermits held = pool.tryAcquire(REQUEST);
            if (held == null) {
                throw new IllegalStateException("no permit (expected: always one)");
            }
            held.release();
        }
    }

    /** Waits for the completion, because another thread may run the work. */
    @Benchmark
    public void withPermit(Listening subscriber) {
        for (int i = 0; i < SMALL_BATCH; i++) {
            pool.withPermit(REQUEST, WORK).subscribe(subscriber);
            subscriber.awaitCompletion();
        }
    }
}
