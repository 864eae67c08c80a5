package io.fairgate.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/** The bytes of each class on the heap, as the JVM counts them after a full collection. */
record Histogram(Map<String, Long> bytes) {

    /** {@code   12:   1234   56789  java.lang.String (java.base@17)}. */
    private static final Pattern ROW = Pattern.compile("\\s*\\d+:\\s+\\d+\\s+(\\d+)\\s+(\\S+).*");

    static Histogram now() {
        try {
            String rows = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
            Map<String, Long> bytes = new HashMap<>();
            rows.lines()
                    .map(ROW::matcher)
                    .filter(Matcher::matches)
                    .forEach(row -> bytes.merge(row.group(2), Long.parseLong(row.group(1)), Long::sum));
            return new Histogram(bytes);
        } catch (JMException e) {
            throw new IllegalStateException("this JVM has no class histogram (expected: HotSpot)", e);
        }
    }

    /** What is added to the heap by the thing that is built, while it is reachable. */
    static Histogram of(Supplier<?> thing) {
        Histogram before = afterCompaction();
        Object built = thing.get();
        try {
            return afterCompaction().minus(before);
        } finally {
            Reference.reachabilityFence(built);
        }
    }

    /**
     * Three of four full collections of the serial collector leave dead objects where they are and count them, as arrays that
     * fill the gaps ({@code -XX:MarkSweepAlwaysCompactCount}).
     */
    private static Histogram afterCompaction() {
        return Stream.generate(Histogram::now)
                .limit(4)
                .min(Comparator.comparingLong(each -> each.total(type -> true)))
                .orElseThrow();
    }

    Histogram minus(Histogram other) {
        Map<String, Long> difference = new HashMap<>(bytes);
        other.bytes.forEach((type, size) -> difference.merge(type, -size, Long::sum));
        return new Histogram(difference);
    }

    long total(Predicate<String> types) {
        return bytes.entrySet().stream()
                .filter(entry -> types.test(entry.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
