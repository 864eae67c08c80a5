package io.fairgate.config.routes;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.config.yaml.Value;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds arguments of Spring Cloud Gateway's filters with which it would answer each request with 500. */
public final class FilterArguments {

    /** A variable of a path or a host, such as {@code {id}}, {@code {*rest}} and {@code {id:[0-9]+}}. */
    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?(\\w+)(:[^}]*)?}");

    private static final Pattern USED = Pattern.compile("(?<![$#])\\{(\\w+)}");

    /** Filters that replace variables in an argument: its position in the short form, and its name in the long form. */
    private static final Map<String, Map.Entry<Integer, String>> EXPANDED = Map.of(
            "AddRequestHeader", Map.entry(1, "value"),
            "AddRequestParameter", Map.entry(1, "value"),
            "AddResponseHeader", Map.entry(1, "value"),
            "SetRequestHeader", Map.entry(1, "value"),
            "SetResponseHeader", Map.entry(1, "value"),
            "PrefixPath", Map.entry(0, "prefix"),
            "SetPath", Map.entry(0, "template"));

    private static final Set<String> NAMING_A_HEADER =
            Set.of("AddRequestHeader", "AddResponseHeader", "SetRequestHeader", "SetResponseHeader");

    /** Filters whose only argument is a path. */
    private static final Set<String> PATHS = Set.of("PrefixPath", "SetPath");

    /** Filters that a program calls with a function of its own, which the long form names as {@code #{@bean}}. */
    private static final Set<String> WITH_A_FUNCTION = Set.of("ModifyRequestBody", "ModifyResponseBody");

    private FilterArguments() {}

    /** The names of the variables that the filters of a route may use; null if a predicate of a library may have others. */
    public static @Nullable Set<String> variables(List<Written> predicates) {
        Set<String> names = new TreeSet<>();
        if (!predicates.stream().allMatch(predicate -> BuiltIns.isKnown(predicate.name(), false))) {
            return null;
        }
        for (Written predicate : predicates) {
            if (predicate.name().equals("Path") || predicate.name().equals("Host")) {
                for (String pattern : predicate.texts()) {
                    VARIABLE.matcher(pattern).results().forEach(variable -> names.add(variable.group(1)));
                }
            }
        }
        return names;
    }

    /** Notes mistakes. */
    public static void check(Written filter, @Nullable Set<String> variables) {
        String name = filter.name();
        Map.Entry<Integer, String> expanded = EXPANDED.get(name);
        if (expanded != null && variables != null) {
            checkVariables(filter, filter.given(expanded.getKey(), expanded.getValue()), variables);
        }
        if (NAMING_A_HEADER.contains(name)) {
            Value header = filter.given(0, "name");
            String text = header == null ? null : header.scalar();
            if (header != null && text != null && !HttpMethods.isToken(text)) {
                filter.place(header).mistake(header.shown(), "the name of a header, without spaces");
            }
        }
        if (PATHS.contains(name) && expanded != null) {
            Value path = filter.given(0, expanded.getValue());
            String text = path == null ? null : path.scalar();
            if (path != null && text != null && !text.startsWith("/") && !Written.isExpression(text)) {
                filter.place(path).mistake(path.shown(), "a path that begins with /");
            }
        }
        if (WITH_A_FUNCTION.contains(name) && !filter.arguments().containsKey("rewriteFunction")) {
            filter.value()
                    .mistake(name + " without a rewriteFunction", "a bean of a library, such as \"#{@upperCase}\"");
        }
    }

    private static void checkVariables(Written filter, @Nullable Value value, Set<String> variables) {
        String text = value == null ? null : value.scalar();
        if (value == null || text == null) {
            return;
        }
        Matcher used = USED.matcher(text);
        while (used.find()) {
            if (!variables.contains(used.group(1))) {
                filter.place(value)
                        .mistake(
                                value.shown(),
                                variables.isEmpty()
                                        ? "no variable, because the Path and the Host of the route have none"
                                        : "a variable of the route: " + Suggestions.oneOf(used.group(1), variables));
                return;
            }
        }
    }
}
