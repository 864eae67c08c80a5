package io.fairgate.benchmarks.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The log of the garbage collector of another JVM, from which follows how much that JVM has allocated: in front of each
 * collection the heap has grown by what was allocated since the one before.
 *
 * <p>A JVM writes it anyway or at no cost, and it includes the allocations of threads that have ended. {@code
 * ThreadMXBean} would lack these until JDK 21, and an agent or a connection of JMX would allocate in the measured JVM.
 * The log counts in megabytes, so measure hundreds of them. It includes the unused ends of the threads' allocation
 * buffers.
 */
public final class GcLog {

    /** The heap before and after a collection of G1, of the parallel or of the serial collector. */
    private static final Pattern COLLECTION = Pattern.compile(" (\\d+)M->(\\d+)M\\(");

    private static final double MEGABYTE = 1 << 20;

    private final Path file;

    public GcLog(Path file) {
        this.file = file;
    }

    /** The option of the JVM that writes this log. */
    public String option() {
        return "-Xlog:gc:file=" + file;
    }

    /** How many collections there were. */
    public int collections() throws IOException {
        return heaps(Files.readAllLines(file)).size();
    }

    /** The heap in use after the last collection, in megabytes. */
    public double usedMegabytes() throws IOException {
        List<Heap> heaps = heaps(Files.readAllLines(file));
        return heaps.get(heaps.size() - 1).after();
    }

    /** The bytes that were allocated from one collection to the last one. */
    public double allocatedBytes(int from) throws IOException {
        return allocatedBytes(Files.readAllLines(file), from);
    }

    /** @param from the number of the collection with which the count begins, from 1 on */
    static double allocatedBytes(List<String> log, int from) {
        List<Heap> heaps = heaps(log);
        if (from < 1 || from >= heaps.size()) {
            throw new IllegalArgumentException(
                    "collection %d of %d (expected: one with another one behind it)".formatted(from, heaps.size()));
        }
        long megabytes = 0;
        for (int i = from; i < heaps.size(); i++) {
            megabytes += heaps.get(i).before() - heaps.get(i - 1).after();
        }
        return megabytes * MEGABYTE;
    }

    private record Heap(long before, long after) {}

    private static List<Heap> heaps(List<String> log) {
        return log.stream()
                .map(COLLECTION::matcher)
                .filter(Matcher::find)
                .map(line -> new Heap(Long.parseLong(line.group(1)), Long.parseLong(line.group(2))))
                .toList();
    }
}
