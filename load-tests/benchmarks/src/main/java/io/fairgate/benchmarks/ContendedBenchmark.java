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
 * Eight tenants always have sixty-four requests, of which four are in flight and the others wait. One operation ends the
 * oldest request in flight, which grants the next one, and sends a new request of the same tenant: one release, one grant,
 * one request that waits.
 *
 * <p>Both sides run a granted request on the thread that releases, bound each wait by a time that is never reached, and keep
 * the requests in flight in the same kind of queue.
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
