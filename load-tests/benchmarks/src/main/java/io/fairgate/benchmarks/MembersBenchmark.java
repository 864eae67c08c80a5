package io.fairgate.benchmarks;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The cost of the requests of twenty active tenants: as the only members, and among many idle members. Both are measured
 * alternately in one JVM, in turns of some microseconds: on a busy machine, two JVMs differ by more than the effect to find.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MembersBenchmark {

    private static final int BATCH = 40;

    @Param("20000")
    public int members = ConfiguredMembers.ACTIVE;

    private ConfiguredMembers alone = new ConfiguredMembers(ConfiguredMembers.ACTIVE);
    private ConfiguredMembers amongMany = alone;

    @Setup
    public void configure() {
        alone = new ConfiguredMembers(ConfiguredMembers.ACTIVE);
        amongMany = new ConfiguredMembers(members);
    }

    /** The median times of one operation, in nanoseconds. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Times {

        private static final int MOST_BATCHES = 1 << 16;

        private final long[] fewNanos = new long[MOST_BATCHES];
        private final long[] manyNanos = new long[MOST_BATCHES];
        private int batches;

        @Setup(Level.Iteration)
        public void clear() {
            batches = 0;
        }

        public double few() {
            return median(fewNanos);
        }

        public double many() {
            return median(manyNanos);
        }

        private double median(long[] nanos) {
            int count = Math.min(batches, MOST_BATCHES);
            long[] sorted = Arrays.copyOf(nanos, count);
            Arrays.sort(sorted);
            return count == 0 ? 0 : (double) sorted[count / 2] / BATCH;
        }

        /** The two sides take turns at being the first. */
        private void measure(MembersBenchmark both, Consumer<ConfiguredMembers> operation) {
            int batch = batches++ % MOST_BATCHES;
            if (batch % 2 == 0) {
                fewNanos[batch] = nanos(both.alone, operation);
                manyNanos[batch] = nanos(both.amongMany, operation);
            } else {
                manyNanos[batch] = nanos(both.amongMany, operation);
                fewNanos[batch] = nanos(both.alone, operation);
            }
        }

        private static long nanos(ConfiguredMembers members, Consumer<ConfiguredMembers> operation) {
            long before = System.nanoTime();
            for (int i = 0; i < BATCH; i++) {
                operation.accept(members);
            }
            return System.nanoTime() - before;
        }
    }

    /** A request that does not wait. */
    @Benchmark
    public void grant(Times times) {
        times.measure(this, ConfiguredMembers::grant);
    }

    /** A permit is released, the next request gets it, and a new request waits. */
    @Benchmark
    public void grantContended(Times times) {
        times.measure(this, ConfiguredMembers::grantContended);
    }

    /** A request that arrives when the queue is full. */
    @Benchmark
    public void refuse(Times times) {
        times.measure(this, ConfiguredMembers::refuse);
    }

    /** Before a request waits. */
    @Benchmark
    public void checkQuotas(Times times, Blackhole blackhole) {
        times.measure(this, members -> blackhole.consume((Object) members.checkQuotas()));
    }

    /** When a request is granted. */
    @Benchmark
    public void chargeQuotas(Times times, Blackhole blackhole) {
        times.measure(this, members -> blackhole.consume((Object) members.chargeQuotas()));
    }

    @Benchmark
    public void standing(Times times) {
        times.measure(this, ConfiguredMembers::standing);
    }

    @Benchmark
    public void totals(Times times) {
        times.measure(this, ConfiguredMembers::totals);
    }

    /** Used by each scrape and by the operator's page. */
    @Benchmark
    public void snapshot(Times times) {
        times.measure(this, ConfiguredMembers::snapshot);
    }
}
