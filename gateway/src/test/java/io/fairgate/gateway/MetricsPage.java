package io.fairgate.gateway;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page as Prometheus scrapes it, read by its text format 0.0.4.
 *
 * @param types from the TYPE lines
 * @param samples by name and sorted tags, such as {@code name{a="1",b="2"}}
 */
record MetricsPage(Map<String, String> types, Map<String, Double> samples) {

    private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
    private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:]\\w*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern TAG = Pattern.compile("(\\w+)=\"([^\"]*)\",?");

    static MetricsPage of(RunningGateway gateway) {
        return parse(Answer.to(gateway.managementUrl("/actuator/prometheus")).body());
    }

    /** A page with current values: while a pool is contended, a page may show what the page before has looked up. */
    static MetricsPage upToDate(RunningGateway gateway) {
        of(gateway);
        return of(gateway);
    }

    static MetricsPage parse(String page) {
        Map<String, String> types = new LinkedHashMap<>();
        Map<String, Double> samples = new LinkedHashMap<>();
        page.lines().forEach(line -> {
            Matcher type = TYPE.matcher(line);
            Matcher sample = SAMPLE.matcher(line);
            if (type.matches()) {
                types.put(type.group(1), type.group(2));
            } else if (!line.startsWith("#") && sample.matches()) {
                String tags = sample.group(2) == null ? "" : sample.group(2);
                samples.put(sample.group(1) + tags(tags), number(sample.group(3)));
            } else if (!line.startsWith("# HELP ")) {
                throw new IllegalArgumentException("not a line of metrics: " + line);
            }
        });
        return new MetricsPage(types, samples);
    }

    private static double number(String text) {
        return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
    }

    private static Map<String, String> tags(String text) {
        Map<String, String> tags = new TreeMap<>();
        Matcher tag = TAG.matcher(text);
        while (tag.find()) {
            tags.put(tag.group(1), tag.group(2));
        }
        return tags;
    }

    /** One sample, or 0 if it is missing; tags as name, value, name, value. */
    double value(String name, String... tags) {
        return samples.getOrDefault(sample(name, tags), 0.0);
    }

    boolean has(String name, String... tags) {
        return samples.containsKey(sample(name, tags));
    }

    private static String sample(String name, String... tags) {
        Map<String, String> wanted = new TreeMap<>();
        for (int i = 0; i < tags.length; i += 2) {
            wanted.put(tags[i], tags[i + 1]);
        }
        return name + wanted;
    }

    /** The sets of tag names of a sample; there must be only one. */
    Set<Set<String>> tagNames(String name) {
        Set<Set<String>> all = new HashSet<>();
        for (String sample : samples.keySet()) {
            if (sample.startsWith(name + "{")) {
                Set<String> names = new TreeSet<>();
                for (String tag :
                        sample.substring(name.length() + 1, sample.length() - 1).split(", ", -1)) {
                    names.add(tag.split("=", 2)[0]);
                }
                all.add(names);
            }
        }
        return all;
    }

    /** The values of a tag in all samples whose name has this prefix. */
    Set<String> tagValues(String prefix, String tag) {
        Set<String> values = new TreeSet<>();
        for (String sample : samples.keySet()) {
            Matcher found = Pattern.compile("[{ ]" + tag + "=([^,}]*)").matcher(sample);
            if (sample.startsWith(prefix) && found.find()) {
                values.add(found.group(1));
            }
        }
        return values;
    }
}
