package io.fairgate.gateway;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * How many objects of each class are reachable in this JVM.
 *
 * @param histogram as the JVM writes it; one object, so that it does not count much itself when it is compared with a later one
 */
record LiveObjects(String histogram) {

    /** A line of the histogram: number, instances, bytes, class, and its module if it has one. */
    private static final Pattern LINE = Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+\\d+\\s+(\\S+).*");

    private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)\\s*$");

    /** Collectors of garbage fill gaps with these. */
    private static final String FILLER = "jdk.internal.vm.Filler";

    /** Counts them after a full collection of garbage. */
    static LiveObjects count() throws JMException {
        return new LiveObjects((String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()}));
    }

    /** By the name of the class. */
    private Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        histogram.lines().forEach(line -> {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches() && !matcher.group(2).contains(FILLER)) {
                counts.merge(matcher.group(2), Long.valueOf(matcher.group(1)), Long::sum);
            }
        });
        return counts;
    }

    /** The bytes of all objects. */
    long bytes() {
        Matcher total = TOTAL.matcher(histogram);
        if (!total.find()) {
            throw new IllegalStateException(histogram);
        }
        return Long.parseLong(total.group(1));
    }

    long of(String type) {
        return counts().getOrDefault(type, 0L);
    }

    /** The classes of which there are at least this many more than before, with the difference. */
    Map<String, Long> moreThan(LiveObjects before, long least) {
        Map<String, Long> more = counts();
        before.counts().forEach((type, count) -> more.merge(type, -count, Long::sum));
        more.values().removeIf(difference -> difference < least);
        return more;
    }
}
