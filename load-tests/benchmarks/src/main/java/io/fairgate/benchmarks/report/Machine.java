package io.fairgate.benchmarks.report;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryManagerMXBean;

/** The machine that is measured on. */
public final class Machine {

    private Machine() {}

    /**
     * What the numbers depend on most. To be called before a run, so that the load is that of other programs and not
     * that of the benchmarks.
     */
    public static String describe() {
        String collector = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(MemoryManagerMXBean::getName)
                .findFirst()
                .map(name -> name.replaceFirst(" .*", ""))
                .orElse("no collector");
        return Formats.number(
                "Measured on %d cores (%s, %s) with JDK %s (%s); load before it began: %.1f",
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.version().feature(),
                collector,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
