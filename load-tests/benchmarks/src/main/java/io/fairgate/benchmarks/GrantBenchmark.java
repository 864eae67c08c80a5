package io.fairgate.benchmarks;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * The scheduler alone, in virtual time. Each tenant is always backlogged. One operation releases the claim that is held
 * longest, grants the next one, and enqueues another request of the granted tenant.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GrantBenchmark {

    static final int BATCH = 50;

    private static final int PERMITS = 64;
    /** Every permit is held for 10 ms. */
    private static final long STEP_NANOS = 10_000_000 / PERMITS;

    @Param({"10", "10000"})
    public int tenants = 10;

    private final FairScheduler scheduler = new FairScheduler(PERMITS, TenantShares.EQUAL, FairnessSettings.USUAL, 0);
    private final Deque<QueuedRequest> held = new ArrayDeque<>();
    private long now;

    @Setup
    public void fill() {
        for (int i = 0; i < tenants; i++) {
            TenantId tenant = TenantId.of("tenant-" + i);
            for (int waiting = 0; waiting < 1 + PERMITS / tenants; waiting++) {
                scheduler.enqueue(new WantedRequest(tenant), now);
            }
        }
        scheduler.grant(now, held::add);
    }

    @Benchmark
    public void grant() {
        for (int i = 0; i < BATCH; i++) {
            now += STEP_NANOS;
            scheduler.release(held.remove(), now);
            scheduler.grant(now, held::add);
            scheduler.enqueue(new WantedRequest(held.getLast().tenant()), now);
        }
    }
}
