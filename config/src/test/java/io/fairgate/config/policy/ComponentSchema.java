package io.fairgate.config.policy;

import static io.fairgate.config.policy.PolicySchema.any;
import static io.fairgate.config.policy.PolicySchema.ordered;

import io.fairgate.config.routes.BuiltIns;
import io.fairgate.config.routes.Component;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The schema of filters, or of predicates: their names, their short forms, and the arguments of those of Spring Cloud Gateway. */
final class ComponentSchema {

    /** A placeholder, or what Spring Cloud Gateway evaluates. */
    static final Map<String, Object> EXPRESSION = ordered("type", "string", "pattern", "[$#]\\{");

    private static final String FLAG = anyCase("true|false");
    private static final String METHODS = "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE";

    /** A method that is not in upper case. */
    private static final String MISWRITTEN = "(?!(%s)\\s*(,|$))(%s)".formatted(METHODS, anyCase(METHODS));

    static final String METHOD = "^(?!%s$)[^,\\s]*$".formatted(MISWRITTEN);

    private static final String AT_LEAST_ONE = "=[\\s,]*[^\\s,][\\s\\S]*";

    private final List<Map<String, Object>> arguments = new ArrayList<>();

    /** Patterns of what follows the name, by name. */
    private final Map<String, String> inShort = new TreeMap<>();

    private final boolean isFilter;

    ComponentSchema(boolean isFilter) {
        this.isFilter = isFilter;
        new TreeMap<>(BuiltIns.of(isFilter)).forEach((name, component) -> {
            List<String> inOrder = component.inOrder();
            inShort.put(name, atMost(inOrder == null ? null : inOrder.size()));
            if (!component.taken().isEmpty()) {
                arguments.add(ofName(name, withArguments(arguments(component))));
            }
        });
        if (isFilter) {
            addMethodsOfRetry();
        } else {
            addLists();
        }
    }

    /** Adds a filter or a predicate of Fairgate. */
    void add(String name) {
        inShort.put(name, atMost(name.equals(PolicyKeys.TENANT) ? null : RouteComponent.IN_SHORT_FORM.get(name)));
    }

    List<String> names() {
        return List.copyOf(inShort.keySet());
    }

    List<Map<String, Object>> arguments() {
        return arguments;
    }

    Map<String, Object> shortForm() {
        Map<String, List<String>> byForm = inShort.keySet().stream()
                .collect(Collectors.groupingBy(inShort::get, TreeMap::new, Collectors.toList()));
        String oneOf = byForm.entrySet().stream()
                .map(form -> "(%s)%s".formatted(String.join("|", form.getValue()), form.getKey()))
                .collect(Collectors.joining("|", "^(", ")$"));
        return ordered("anyOf", List.of(ordered("type", "string", "pattern", oneOf), EXPRESSION));
    }

    static Map<String, Object> ofName(String name, Map<String, Object> then) {
        Map<String, Object> named =
                ordered("properties", ordered("name", ordered("const", name)), "required", List.of("name"));
        return ordered("if", named, "then", then);
    }

    private void addMethodsOfRetry() {
        Map<String, Object> commas =
                ordered("type", "string", "pattern", "^(?!(.*,)?\\s*%s\\s*(,|$))".formatted(MISWRITTEN));
        Map<String, Object> methods = ordered("anyOf", List.of(commas, EXPRESSION, any(text(METHOD))));
        arguments.add(ofName("Retry", withArguments(ordered("properties", ordered("methods", methods)))));
    }

    private void addLists() {
        inShort.put("Path", "=[\\s,]*/([^,]|,\\s*/)*(,\\s*(%s)\\s*)?[\\s,]*".formatted(FLAG));
        inShort.put("Method", "(?!.*[=,]\\s*%s\\s*(,|$))".formatted(MISWRITTEN) + AT_LEAST_ONE);
        arguments.add(ofName("Path", listed("^(/(?!.*,\\s*/)|(%s)$)".formatted(FLAG))));
        arguments.add(ofName("Method", listed(METHOD)));
        for (String name : List.of("Host", "RemoteAddr", "XForwardedRemoteAddr")) {
            inShort.put(name, AT_LEAST_ONE);
            arguments.add(ofName(name, listed("^[^,]*$")));
        }
    }

    /** Arguments, at least one, whose values are texts that are one item each, or lists of them. */
    private static Map<String, Object> listed(String item) {
        Map<String, Object> values = ordered("anyOf", List.of(text(item), any(text(item))));
        Map<String, Object> then = withArguments(ordered("minProperties", 1, "additionalProperties", values));
        then.put("required", List.of("args"));
        return then;
    }

    private static Map<String, Object> text(String pattern) {
        return ordered("anyOf", List.of(ordered("type", PolicySchema.TEXT_TYPES, "pattern", pattern), EXPRESSION));
    }

    private static Map<String, Object> withArguments(Map<String, Object> arguments) {
        return ordered("properties", ordered("args", arguments));
    }

    /** @param most arguments, which have no commas; null for any */
    private String atMost(@Nullable Integer most) {
        String arguments = most == null ? "=[\\s\\S]*" : "=[\\s,]*([^\\s,][^,]*(,[\\s,]*)?){0,%d}".formatted(most);
        return isFilter ? "(" + arguments + ")?" : arguments;
    }

    /** Spring Cloud Gateway ignores all but these. It reads {@code max-size} and {@code MAXSIZE} as {@code maxSize}. */
    private static Map<String, Object> arguments(Component builtIn) {
        Map<String, Object> known = new TreeMap<>();
        Map<String, Object> spelling = new TreeMap<>();
        spelling.put("^_genkey_[0-9]+$", Map.of());
        for (String path : builtIn.taken()) {
            String argument = path.replaceFirst("\\..*", "");
            known.put(argument, Map.of());
            String letters = argument.chars()
                    .mapToObj(letter -> anyCase(String.valueOf((char) letter)))
                    .collect(Collectors.joining("[-_]*"));
            spelling.put("^[-_]*%s[-_]*([.\\[].*)?$".formatted(letters), Map.of());
        }
        return ordered(
                "type", "object", "properties", known, "patternProperties", spelling, "additionalProperties", false);
    }

    private static String anyCase(String pattern) {
        return Pattern.compile("[A-Za-z]")
                .matcher(pattern)
                .replaceAll(letter -> "[%s%s]"
                        .formatted(
                                letter.group().toLowerCase(Locale.ROOT),
                                letter.group().toUpperCase(Locale.ROOT)));
    }
}
