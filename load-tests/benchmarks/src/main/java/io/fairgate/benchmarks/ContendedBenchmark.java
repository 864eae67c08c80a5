package io.fairgate.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Sixty-four requests of eight tenants are always outstanding, and four of them at a time are in flight. One operation
 * ends the one that is longest in flight, which grants the next that waits, and asks anew for the tenant whose request
 * has ended: one release, one grant, one more that waits.
 *
 * <p>Both sides run what they grant on the thread that gives back, and bound every wait by a time that is not reached. What
 * is in flight is kept in the same kind of queue.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ContendedBenchmark {

    static final int BATCH = 50;

    static final int PERMITS = 4;
    static final int OUTSTANDING = 64;
    static final int TENANTS = 8;

    private ClosedLoop permits = ClosedLoop.NONE;
    private ClosedLoop resources = ClosedLoop.NONE;

    @Setup
    public void ask() {
        permits = new PermitLoop();
        resources = new ResourceLoop();
        for (int i = 0; i < OUTSTANDING; i++) {
            permits.ask(i % TENANTS);
            resources.ask(i % TENANTS);
        }
    }

    @Benchmark
    public void fairgate() {
        permits.endSome(BATCH);
    }

    @Benchmark
    public void reactorPool() {
        resources.endSome(BATCH);
    }
}
