package io.fairgate.benchmarks.process;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.function.Supplier;

/** The processor time that other programs of the machine use: what disturbs a measurement. */
public final class OtherPrograms {

    /** With less, in processors, the machine counts as quiet. */
    private static final double QUIET = 0.3;

    private static final Duration LOOK = Duration.ofSeconds(1);

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final Supplier<Duration> ours;
    private long since;
    private Duration oursBefore = Duration.ZERO;

    /** @param ours the processor time of the measured processes until now, without this one */
    public OtherPrograms(Supplier<Duration> ours) {
        this.ours = ours;
        reset();
    }

    private void reset() {
        // The bean reports the load since it was asked before.
        system.getCpuLoad();
        since = System.nanoTime();
        oursBefore = allOurs();
    }

    private Duration allOurs() {
        return ours.get().plus(ProcessHandle.current().info().totalCpuDuration().orElseThrow());
    }

    /** The processors that other programs have used on average since the last call. */
    public double processors() {
        double load = system.getCpuLoad();
        double nanos = System.nanoTime() - since;
        double own = allOurs().minus(oursBefore).toNanos() / nanos;
        reset();
        return Math.max(0, load * system.getAvailableProcessors() - own);
    }

    /** Waits until other programs use little, or the time is over. */
    public void awaitQuiet(Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        do {
            processors();
            pause();
        } while (processors() > QUIET && System.nanoTime() - end < 0);
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
