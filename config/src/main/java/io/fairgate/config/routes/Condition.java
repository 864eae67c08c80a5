package io.fairgate.config.routes;

import io.fairgate.config.yaml.Value;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a predicate asks of a request, for comparisons with other predicates of the same name.
 *
 * @param anyOf methods, hosts and the like, of which one must be true; or all arguments of the predicate as one text
 * @param paths patterns, of which one must match; empty if it is no {@code Path}
 * @param isExact whether a slash at the end of a path makes a difference
 */
record Condition(String name, Set<String> anyOf, List<PathPattern> paths, boolean isExact) {

    private static final String PATH = "Path";

    /** Predicates whose arguments are one list of texts. */
    private static final Set<String> LISTS = Set.of("Method", "Host", "RemoteAddr", "XForwardedRemoteAddr");

    static Condition of(Written predicate) {
        String name = predicate.name();
        if (name.equals(PATH)) {
            boolean isExact = predicate.flag().equalsIgnoreCase("false");
            List<PathPattern> paths = predicate.items().stream()
                    .map(Written::text)
                    .map(PathPattern::of)
                    .toList();
            return new Condition(name, Set.of(), paths, isExact);
        }
        return new Condition(
                name,
                LISTS.contains(name)
                        ? predicate.items().stream().map(Written::text).collect(Collectors.toSet())
                        : Set.of(all(predicate)),
                List.of(),
                false);
    }

    private static String all(Written predicate) {
        return new TreeMap<>(predicate.arguments())
                .entrySet().stream()
                        .map(argument -> argument.getKey() + "=" + comparable(argument.getValue()))
                        .collect(Collectors.joining(","));
    }

    /** A list or a mapping is not compared with others, only with itself. */
    private static String comparable(Value value) {
        String text = value.scalar();
        return text == null ? value.fullPlace() : text;
    }

    /** Whether each request that meets the other condition is known to meet this one. */
    boolean includes(Condition other) {
        if (!name.equals(other.name) || name.equals("Weight")) { // A Weight lets through a part of the requests.
            return false;
        }
        return name.equals(PATH)
                ? (!isExact || other.isExact)
                        && other.paths.stream().allMatch(path -> paths.stream().anyMatch(own -> own.includes(path)))
                : anyOf.containsAll(other.anyOf);
    }
}
