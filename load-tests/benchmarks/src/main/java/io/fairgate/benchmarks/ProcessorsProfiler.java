package io.fairgate.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * How many processors the JVM had during an iteration. On a busy machine two threads often do not run at the same time, and
 * then the result does not show what they cost each other.
 */
public final class ProcessorsProfiler implements InternalProfiler {

    static final String PROCESSORS = "processors";

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long usedBefore;
    private long startedAt;

    @Override
    public String getDescription() {
        return "processors that the JVM had";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        startedAt = System.nanoTime();
        usedBefore = system.getProcessCpuTime();
    }

    @Override
    public Collection<ScalarResult> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double used = system.getProcessCpuTime() - usedBefore;
        double passed = System.nanoTime() - startedAt;
        return List.of(new ScalarResult(PROCESSORS, used / passed, "processors", AggregationPolicy.AVG));
    }
}
